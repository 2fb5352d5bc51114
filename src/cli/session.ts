import type { Client } from '@temporalio/client';
import type { DataSource } from 'typeorm';
import { entities } from '../entities';
import { readConfig } from '../platform/config';
import { createDatabase } from '../platform/database';
import { connectAs } from '../platform/database-login';
import { createTemporalClient } from '../platform/temporal-client';

/** The connections of a command. */
export interface Session {
  database: DataSource;
  temporal: Client;
  json: boolean;
}

/** Opens the connections, runs one command and closes them. */
export async function withSession(json: boolean, work: (session: Session) => Promise<void>): Promise<void> {
  const { DATABASE_URL: url } = readConfig(['DATABASE_URL']);
  const unconnected = createDatabase({ url, poolSize: 2, applicationName: 'gateway-cli', entities });
  const database = await connectAs(unconnected, 'gateway_operator');
  const temporal = createTemporalClient();
  try {
    await work({ database, temporal, json });
  } finally {
    await database.destroy();
    await temporal.connection.close();
  }
}

/** Ends a command with exit code 1 and the message, for example after it has printed differences. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
}
