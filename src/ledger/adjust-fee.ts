import type { EntityManager } from 'typeorm';
import { type AlertLog, freezeForShortfalls } from './accounts';
import { type AccountBalance, correctFee } from './entries';
import { post } from './posting';

/**
 * Posts that the fee of an ended transaction has become another one with its block. `more`: atomic units of the native coin, may be
 * negative. `native`: locked.
 */
export async function adjustFee(
  manager: EntityManager,
  { txId, native, more }: { txId: string; native: AccountBalance; more: bigint },
  log?: AlertLog,
): Promise<void> {
  const [row] = await manager.query<{ seq: number }[]>(
    `select coalesce(max(seq), 0) + 1 as seq from ledger_postings where tx_id = $1 and kind = 'adjustment'`,
    [txId],
  );
  const { entries, shortfalls } = correctFee(native, more);
  await post(manager, [{ txId, kind: 'adjustment', seq: row?.seq ?? 1, entries }]);
  await freezeForShortfalls(manager, txId, shortfalls, log);
}
