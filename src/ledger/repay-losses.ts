import type { EntityManager } from 'typeorm';
import { findLedgerAccountsForUpdate } from './accounts';
import { postAdjustment } from './adjustments';
import { repayLoss } from './entries';

/** Transactions whose losses are looked at. */
const limit = 1_000;

/**
 * What a transfer has held may be money that is not on the chain any more: its deposit was reorganised away, or somebody else has spent it,
 * and as long as it was held the house has paid for that. Of what its end has unlocked that is repaid. Call it under the lock of the
 * transfer, after its end is posted. `unlocked`: atomic units.
 */
export async function repayLosses(manager: EntityManager, ledgerAccountId: string, unlocked: bigint): Promise<void> {
  const losses = await manager.query<{ tx_id: string; lost: string }[]>(
    // a deposit that was found again has repaid what its removal had cost: both are at the same place of the chain
    `select (array_agg(t.tx_id order by t.status = 'ORPHANED' desc, t.tx_id desc))[1] as tx_id, -sum(e.amount) as lost
       from ledger_accounts l
       join transactions t on t.account_id = l.account_id and t.chain = l.chain
        and (t.direction = 'in' or exists (select from foreign_spends f where f.chain = t.chain and f.tx_id = t.tx_id))
       join ledger_postings p on p.tx_id = t.tx_id
       join ledger_entries e on e.posting_id = p.posting_id and e.bucket = 'LOSS' and e.symbol = l.symbol
      where l.ledger_account_id = $1 and l.frozen_reason is not null
      group by t.tx_hash, t.position having sum(e.amount) < 0 order by 1 limit ${limit}`,
    [ledgerAccountId],
  );
  let left = unlocked;
  for (const { tx_id: txId, lost } of losses) {
    const account = (await findLedgerAccountsForUpdate(manager, [ledgerAccountId])).get(ledgerAccountId);
    if (!account) return;
    const amount = [BigInt(lost), account.available, left].reduce((one, other) => (one < other ? one : other));
    left -= amount;
    await postAdjustment(manager, txId, { entries: repayLoss(account, amount), shortfalls: [] });
  }
}
