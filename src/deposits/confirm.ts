import type { EntityManager } from 'typeorm';
import type { ChainDefinition } from '../chains/types';
import { findLedgerAccountsForUpdate } from '../ledger/accounts';
import { creditDeposit } from '../ledger/entries';
import { post } from '../ledger/posting';
import { batchSize, getToken, moveAll, type StoredDeposit } from './stored-deposits';

/**
 * Credits the deposits that are deep enough below `headBlock` (the block at the head has depth 1), oldest first, one batch per
 * call; none of a block above `upToBlock`. Returns the number of credited deposits: call again while it is not 0 to credit all.
 */
export async function confirmDeposits(
  manager: EntityManager,
  chain: ChainDefinition,
  headBlock: number,
  upToBlock = headBlock,
): Promise<number> {
  const deep = await manager.query<StoredDeposit[]>(
    `select tx_id, asset_id, status, version, amount from transactions
      where chain = $1 and status = 'DETECTED' and block_number <= $4 and block_number + required_confirmations <= $2::bigint + 1
      order by block_number limit $3 for no key update`,
    [chain.name, headBlock, batchSize, Math.min(headBlock, upToBlock)],
  );
  if (deep.length === 0) return 0;
  const tokens = await findLedgerAccountsForUpdate(
    manager,
    deep.map((it) => it.asset_id),
  );
  await moveAll(manager, deep, 'CONFIRMED');
  const losses = await findLosses(manager, deep);
  await post(
    manager,
    deep.map((it) => ({
      txId: it.tx_id,
      kind: 'deposit',
      seq: it.version + 1,
      entries: creditDeposit(getToken(tokens, it), BigInt(it.amount), losses.get(it.tx_id)),
    })),
  );
  return deep.length;
}

/**
 * Losses of the house from earlier finds of these deposits that were orphaned after they had been spent, as far as they are not
 * repaid. Such a loss has frozen the account, but an operator may have unfrozen it since.
 */
async function findLosses(manager: EntityManager, deposits: StoredDeposit[]): Promise<Map<string, bigint>> {
  const rows = await manager.query<{ tx_id: string; lost: string }[]>(
    `select t.tx_id, -sum(e.amount) as lost
       from transactions t
       join transactions o on o.account_id = t.account_id and o.asset_id = t.asset_id and o.status = 'ORPHANED'
        and o.chain = t.chain and o.tx_hash = t.tx_hash and o.position = t.position
       join ledger_postings p on p.tx_id = o.tx_id
       join ledger_entries e on e.posting_id = p.posting_id and e.bucket = 'LOSS'
      where t.tx_id = any($1::uuid[]) group by t.tx_id having sum(e.amount) < 0`,
    [deposits.map((it) => it.tx_id)],
  );
  return new Map(rows.map(({ tx_id, lost }) => [tx_id, BigInt(lost)]));
}
