import type { EntityManager } from 'typeorm';
import { type AlertLog, freezeForShortfalls } from './accounts';
import type { Outcome } from './entries';
import { post } from './posting';

/** Posts a correction about a transaction, beside what it has moved; a shortfall freezes its account. Nothing for no entries. */
export async function postAdjustment(
  manager: EntityManager,
  txId: string,
  { entries, shortfalls }: Outcome,
  log?: AlertLog,
): Promise<void> {
  if (entries.length === 0) return;
  const [row] = await manager.query<{ seq: number }[]>(
    `select coalesce(max(seq), 0) + 1 as seq from ledger_postings where tx_id = $1 and kind = 'adjustment'`,
    [txId],
  );
  await post(manager, [{ txId, kind: 'adjustment', seq: row?.seq ?? 1, entries }]);
  await freezeForShortfalls(manager, txId, shortfalls, log);
}
