import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Client, type QueryResultRow } from 'pg';
import { OrderSigner } from '../../src/orders/signer';
import type { DatabaseRole } from '../../src/platform/database-roles';
import { dataFolder, stack } from '../stack/client';
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

/** With the authoriser's own key. */
export function authoriserSigner(): Promise<OrderSigner> {
  const [pid = 0] = pids('authoriser');
  return OrderSigner.create(readFileSync(environmentOf(pid).ORDER_KEY_FILE ?? '', 'utf8'));
}

/** A page of a process's own listener, which METRICS_PORT names. */
export const ownPage = ({ METRICS_PORT: port }: NodeJS.ProcessEnv, of: string): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}${of}`);

/** Value of a metric, named with its labels as it is shown; 0 without a line. */
export async function metricOf(env: NodeJS.ProcessEnv, series: string): Promise<number> {
  const text = await (await ownPage(env, '/metrics')).text();
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${series} `));
  return Number(line?.split(' ')[1] ?? 0);
}

interface Alarm {
  alert?: string;
  peer?: number;
  node?: number;
  key_id?: string;
  tx_id?: string;
  wallet_id?: string;
  account_id?: string;
}

/** Alarms in the log of a process: `api`, `mpc-node-1` … */
export function alarmsOf(name: string): Alarm[] {
  const text = readFileSync(path.join(dataFolder(), 'logs', `${name}.log`), 'utf8');
  const lines = text.split('\n').filter((line) => line.includes('"alert"'));
  return lines.map((line) => JSON.parse(line) as Alarm);
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

/** The rows that a statement returns; it is rolled back. */
export const undone = <R extends QueryResultRow>(url: string, statement: string, values: unknown[] = []): Promise<R[]> =>
  withDatabase(url, async (database) => {
    await database.query('begin');
    try {
      return (await database.query<R>(statement, values)).rows;
    } finally {
      await database.query('rollback');
    }
  });

/** SQLSTATE of the refusal of a statement, 42501 where the login may not; null if it is carried out. Nothing is kept. */
export const refusal = (url: string, statement: string, values: unknown[] = []): Promise<string | null> =>
  withDatabase(url, async (database) => {
    await database.query('begin');
    try {
      await database.query(statement, values);
      await database.query('set constraints all immediate');
      return null;
    } catch (error) {
      return (error as { code?: string }).code ?? String(error);
    } finally {
      await database.query('rollback');
    }
  });
