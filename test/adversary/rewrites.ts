import type { Client, QueryResultRow } from 'pg';
import { stack } from '../stack/client';
import { gatewayQuery, withDatabase } from './processes';

const keys = { transactions: 'tx_id', accounts: 'account_id', wallets: 'wallet_id', transfer_attempts: 'tx_id' } as const;

/** Columns of one row, as the owner of the schema can write them. */
export interface Rewrite {
  table: keyof typeof keys;
  id: string;
  to: Record<string, unknown>;
}

export function toStatement({ table, id, to }: Rewrite): { text: string; values: unknown[] } {
  const assignments = Object.keys(to).map((column, at) => `${column} = $${at + 2}`);
  return { text: `update ${table} set ${assignments.join(', ')} where ${keys[table]} = $1`, values: [id, ...Object.values(to)] };
}

/** Statements while the rules of a table that are triggers are switched off. */
export const withoutRules = (table: string, work: (database: Client) => Promise<unknown>): Promise<void> =>
  withDatabase(stack().postgres.url, async (database) => {
    await database.query('begin');
    await database.query(`alter table ${table} disable trigger user`);
    await work(database);
    await database.query(`alter table ${table} enable trigger user`);
    await database.query('commit');
  });

/** For good. */
export const rewrite = (change: Rewrite): Promise<void> =>
  withoutRules(change.table, (database) => database.query(toStatement(change)));

/** Until the work is done; then the row is what it was. */
export async function whileRewritten<T>(change: Rewrite, work: () => Promise<T>): Promise<T> {
  const { table, id, to } = change;
  const [was] = await gatewayQuery<QueryResultRow>(
    `select ${Object.keys(to).join(', ')} from ${table} where ${keys[table]} = $1`,
    [id],
  );
  if (!was) throw new Error(`there is no row ${id} in ${table}`);
  await rewrite(change);
  try {
    return await work();
  } finally {
    await rewrite({ table, id, to: was });
  }
}
