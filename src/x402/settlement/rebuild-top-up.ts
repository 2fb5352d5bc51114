import type { EntityManager } from 'typeorm';
import type { RebuiltColumns, RebuiltRow } from '../../transactions/signed-type';

/** The clock of the authoriser, which has dated the order in whole seconds, may be so far behind that of the database. */
const clockDifferenceSeconds = 60;

/**
 * No order names the settlement that coins were given for. It is one of the database whose payer lacked just these coins when they were
 * ordered, and has got none; with none there, the settlement is lost with its approval. Of several, which are for the same payer, the oldest that
 * is open: each of them gets coins once, whichever it was.
 */
export async function findParent(
  manager: EntityManager,
  { chain, toAddress, amount, orderedAt }: RebuiltRow,
): Promise<RebuiltColumns> {
  const [found] = await manager.query<{ tx_id: string }[]>(
    `select a.tx_id from x402_approvals a join transactions t using (tx_id)
      where (a.chain, a.payer, a.top_up) = ($1, $2, $3::numeric) and a.created_at <= $4::timestamptz + $5 * interval '1 second'
        and (t.ended_at is null or t.ended_at >= $4::timestamptz)
        and not exists (select from transactions g where g.parent_tx_id = a.tx_id and g.is_held)
      order by t.ended_at is not null, a.created_at limit 1`,
    [chain, toAddress, amount.toString(), orderedAt, clockDifferenceSeconds],
  );
  return { parentTxId: found?.tx_id ?? null };
}
