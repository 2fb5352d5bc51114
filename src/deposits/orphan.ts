import type { EntityManager } from 'typeorm';
import type { ChainDefinition } from '../chains/types';
import { type AlertLog, findLedgerAccountsForUpdate, freezeForShortfalls } from '../ledger/accounts';
import { reverseDeposits } from '../ledger/entries';
import { post } from '../ledger/posting';
import { batchSize, getToken, moveAll, type StoredDeposit } from './stored-deposits';

/**
 * Reverses every deposit, from a block on, that a reorganisation has dropped: it becomes ORPHANED, and a credited amount is taken
 * back. An amount that was spent meanwhile is posted as a loss of the house and the asset is frozen. If it is found again, it is a
 * new deposit.
 */
export async function orphanDeposits(
  manager: EntityManager,
  chain: ChainDefinition,
  fromBlock: number,
  log?: AlertLog,
): Promise<void> {
  for (;;) {
    const dropped = await manager.query<StoredDeposit[]>(
      `select tx_id, asset_id, status, version, amount from transactions
        where chain = $1 and block_number >= $2 and direction = 'in' and status in ('DETECTED', 'CONFIRMED')
        order by block_number desc limit $3 for no key update`,
      [chain.name, fromBlock, batchSize],
    );
    if (dropped.length === 0) return;
    const tokens = await findLedgerAccountsForUpdate(
      manager,
      dropped.map((it) => it.asset_id),
    );
    await moveAll(manager, dropped, 'ORPHANED');
    const credited = dropped.filter(({ status }) => status === 'CONFIRMED');
    const outcomes = reverseDeposits(credited.map((it) => ({ token: getToken(tokens, it), amount: BigInt(it.amount) })));
    const reversals = credited.map((it, index) => ({ it, ...(outcomes[index] ?? { entries: [], shortfalls: [] }) }));
    await post(
      manager,
      reversals.map(({ it, entries }) => ({ txId: it.tx_id, kind: 'deposit_reversal', seq: it.version + 1, entries })),
    );
    for (const { it, shortfalls } of reversals) await freezeForShortfalls(manager, it.tx_id, shortfalls, log);
  }
}
