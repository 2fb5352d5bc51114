import { readFileSync } from 'node:fs';
import { Client, type QueryResultRow } from 'pg';
import type { DatabaseRole } from '../../src/platform/database-roles';
import { stack } from '../stack/client';
import { pids } from '../stack/pause';

/** What a compromised process has: the environment that it was started with, and so its login and its credentials. */
export function environmentOf(pid: number): NodeJS.ProcessEnv {
  const lines = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean);
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
}

const groups = { gateway_api: 'api', gateway_authoriser: 'authoriser', gateway_worker: 'worker' } as const;

/** The database login of a process; its groups in stack.json are named otherwise. */
export function loginOf(role: Exclude<DatabaseRole, 'gateway_operator'>): string {
  const [pid = 0] = pids(groups[role]);
  const { DATABASE_URL: url } = environmentOf(pid);
  if (!url) throw new Error(`${role} has no login`);
  return url;
}

/** Statements with one connection, so that they can be one database transaction. */
export async function withDatabase<T>(url: string, work: (database: Client) => Promise<T>): Promise<T> {
  const database = new Client({ connectionString: url });
  await database.connect();
  try {
    return await work(database);
  } finally {
    await database.end();
  }
}

export const query = <R extends QueryResultRow>(url: string, statement: string, values: unknown[] = []): Promise<R[]> =>
  withDatabase(url, async (database) => (await database.query<R>(statement, values)).rows);

/** In the gateway's database, as its owner. */
export const gatewayQuery = <R extends QueryResultRow>(statement: string, values: unknown[] = []): Promise<R[]> =>
  query<R>(stack().postgres.url, statement, values);

/** SQLSTATE of the refusal of a statement, 42501 where the login may not; null if it is carried out. Nothing is kept. */
export const refusal = (url: string, statement: string): Promise<string | null> =>
  withDatabase(url, async (database) => {
    await database.query('begin');
    try {
      await database.query(statement);
      await database.query('set constraints all immediate');
      return null;
    } catch (error) {
      return (error as { code?: string }).code ?? String(error);
    } finally {
      await database.query('rollback');
    }
  });
