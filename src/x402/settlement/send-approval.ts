import type { EntityManager } from 'typeorm';
import type { ForeignState } from '../../chains/chain-client';
import type { Hex } from '../../chains/types';
import type { ApprovalResult } from '../../messages/transfer';
import { type ChainDependencies, getClient } from '../../transfers/dependencies';
import { recordRefusal, type RefusalReason } from '../../transfers/end/refusals';
import { type CountStarts, toStartCounts } from '../../transfers/start/start-limits';
import { minLeftMs, settlementTimeLeft } from './time-left';

type Steps = Pick<ChainDependencies, 'database' | 'clients'>;

interface ApprovalRow {
  chain: string;
  payer: string;
  raw: Hex;
  tx_hash: string;
  nonce: string;
  is_ended: boolean;
  /** `given`: nothing is missing, or it is in a block; `refused`: it will never be given. */
  top_up: 'given' | 'open' | 'refused';
}

/**
 * One step of the approval that the payer of a settlement has signed: it is sent once the payer has the coins for it, and is asked about
 * until a block contains it. Its id is stored with the settlement, and that it is sent before it is. Safe to repeat: the same bytes are
 * executed once.
 * @throws GatewayError chain_unavailable when no node responded.
 */
export async function sendApproval(steps: Steps, { txId }: { txId: string }): Promise<ApprovalResult> {
  const { manager } = steps.database;
  const approval = await findApproval(manager, txId);
  const client = getClient(steps, approval.chain);
  const { tx_hash: id, payer: sender, nonce, raw } = approval;
  const state = await client.foreignState({ id, sender, ordinal: BigInt(nonce) });
  if (state === 'executed') return { outcome: 'executed' };
  const isOver = approval.is_ended || (await settlementTimeLeft(manager, txId)) < minLeftMs;
  const refusal = whyRefused(state, approval, isOver);
  if (refusal) {
    // on record: the settlement ends for it
    await recordRefusal(manager, { txId, attempt: 1 }, { kind: 'chain', ...refusal });
    return { outcome: 'refused', ...refusal };
  }
  if (state === 'unconfirmed')
    return {
      outcome: 'waiting',
      reason: 'It was reverted, or its nonce is used otherwise, in a block that is not deep enough yet',
    };
  if (approval.top_up === 'open') return { outcome: 'waiting', reason: 'Coins for the approval are on their way' };
  await manager.query('update x402_approvals set sent_at = clock_timestamp() where tx_id = $1 and sent_at is null', [txId]);
  const sent = await client.broadcast(raw);
  return { outcome: 'waiting', reason: sent.outcome === 'accepted' ? 'The approval is sent' : `Not accepted: ${sent.reason}` };
}

function whyRefused(state: ForeignState, { top_up: topUp }: ApprovalRow, isOver: boolean): RefusalReason | null {
  if (state === 'reverted') return { code: 'reverted_on_chain', reason: 'The approval of the payer was reverted' };
  if (state === 'replaced')
    return { code: 'broadcast_rejected', reason: 'The payer has used the nonce of its approval otherwise' };
  if (isOver) return { code: 'expired', reason: 'The approval of the payer was not executed in time' };
  return topUp === 'refused'
    ? { code: 'insufficient_balance', reason: 'The payer did not get the coins for its approval' }
    : null;
}

async function findApproval(manager: EntityManager, txId: string): Promise<ApprovalRow> {
  const [row] = await manager.query<ApprovalRow[]>(
    `select a.chain, a.payer, a.raw, a.tx_hash, a.nonce, t.ended_at is not null as is_ended,
            case when a.top_up = 0 or g.is_included then 'given' when g.status in ('REJECTED', 'FAILED', 'CANCELLED') then 'refused'
              else 'open' end as top_up
       from x402_approvals a join transactions t using (tx_id)
       left join lateral (
         select c.status, exists (select from transfer_attempts p
                   where p.tx_id = c.tx_id and p.block_number is not null and p.success and p.kind <> 'cancellation') as is_included
           from transactions c where c.parent_tx_id = a.tx_id and c.is_held) g on true
      where a.tx_id = $1`,
    [txId],
  );
  if (!row) throw new Error(`settlement ${txId} has no approval`);
  return row;
}

/** Settlements that wait for what their payers have to approve. */
export const countSponsored: CountStarts = async (manager) => {
  const rows = await manager.query<{ chain: string; client_id: string; count: number }[]>(
    `select t.chain, t.client_id, count(*)::int as count from x402_approvals a join transactions t using (tx_id)
      where t.ended_at is null and t.status in ('PENDING', 'SIGNING') and t.signing_begun_at is null
        and not exists (select from workflow_outbox o where o.kind = 'start_transfer' and o.subject_id = t.tx_id)
      group by t.chain, t.client_id`,
  );
  return toStartCounts(rows);
};
