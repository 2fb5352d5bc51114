import type { DataSource } from 'typeorm';
import { readJti } from './node-orders';

/** Ids of shown orders that are stored, by what the orders say themselves. */
export async function findKnownOrders(database: DataSource, compacts: readonly string[]): Promise<(compact: string) => boolean> {
  const rows = await database.query<{ jti: string }[]>('select jti from orders where jti = any($1::uuid[])', [
    compacts.flatMap((compact) => readJti(compact) ?? []),
  ]);
  const known = new Set<string | null>(rows.map(({ jti }) => jti));
  return (compact) => known.has(readJti(compact));
}
