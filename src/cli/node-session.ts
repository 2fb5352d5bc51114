import type { DataSource } from 'typeorm';
import { readConfig } from '../platform/config';
import { createDatabase } from '../platform/database';

/** The connection of a command for the operator of one signing node. */
export interface NodeSession {
  /** The node's own database, migrated by the node. */
  database: DataSource;
  json: boolean;
}

/** Wraps the work of such a command as its action. */
export type NodeRun = <A extends unknown[]>(
  work: (session: NodeSession, ...args: A) => Promise<void>,
) => (...args: [...A, ...unknown[]]) => Promise<void>;

/** Opens the node's database, runs one command and closes it. */
export async function withNodeSession(json: boolean, work: (session: NodeSession) => Promise<void>): Promise<void> {
  const { MPC_NODE_DATABASE_URL: url } = readConfig(['MPC_NODE_DATABASE_URL']);
  const database = await createDatabase({ url, poolSize: 2, applicationName: 'gateway-cli' }).initialize();
  try {
    await work({ database, json });
  } finally {
    await database.destroy();
  }
}
