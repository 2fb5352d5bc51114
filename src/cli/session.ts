import type { Client } from '@temporalio/client';
import type { DataSource } from 'typeorm';
import { migrations } from '../../migrations';
import { entities } from '../entities';
import { readConfig } from '../platform/config';
import { createDatabase } from '../platform/database';
import { createTemporalClient } from '../platform/temporal';

/** What a command works with; opened for it and closed after it. */
export interface Session {
  database: DataSource;
  temporal: Client;
  json: boolean;
}

/** Runs one command. */
export async function withSession(json: boolean, work: (session: Session) => Promise<void>): Promise<void> {
  const { DATABASE_URL: url } = readConfig(['DATABASE_URL']);
  const database = await createDatabase({ url, poolSize: 2, applicationName: 'gateway-cli', entities, migrations }).initialize();
  const temporal = createTemporalClient();
  try {
    await work({ database, temporal, json });
  } finally {
    await database.destroy();
    await temporal.connection.close();
  }
}

/** Thrown to end with exit code 1 after what was found has been printed. */
export class Finding extends Error {
  override readonly name = 'Finding';
}
