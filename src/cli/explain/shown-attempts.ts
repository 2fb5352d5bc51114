import type { EntityManager } from 'typeorm';
import type { TransactionEntity } from '../../transactions/entity';
import { getSignedType } from '../../signed-types';
import type { Attempt, Attempts } from '../../transfers/attempts';
import type { ChainView } from './chain';

export interface ShownAttempt {
  attempt: number;
  kind: string;
  /** What it uses up on the chain (a nonce, inputs). */
  resources: string[];
  begun_at: Date;
  signed_at: Date | null;
  is_broadcast: boolean;
  /** Every id under which it may be executed; of what somebody else sends, those that were seen. */
  ids: string[];
  /** What is on record: where it was executed, or that it never can be. */
  on_record: string;
  /** What the chain shows now; null: it was not asked, or has not answered. */
  chain_now: string | null;
}

/** The attempts of a transaction beside what the chain shows of them, oldest first. Without their bytes. */
export async function showAttempts(
  manager: EntityManager,
  { all }: Attempts,
  tx: TransactionEntity,
  chain: ChainView,
): Promise<ShownAttempt[]> {
  if (all.length === 0) return [];
  const resources = await manager.query<{ attempt: number; resources: string[] }[]>(
    `select l.attempt, array_agg(r.resource order by r.reservation_id) as resources
       from attempt_reservations l join reservations r using (reservation_id) where l.tx_id = $1 group by l.attempt`,
    [tx.txId],
  );
  // a digest is no id of the chain
  const hasIds = getSignedType(tx.transactionType).isHandedOut !== true;
  return all.map((attempt) => ({
    attempt: attempt.attempt,
    kind: attempt.kind,
    resources: resources.find((row) => row.attempt === attempt.attempt)?.resources ?? [],
    begun_at: attempt.begunAt,
    signed_at: attempt.signedAt,
    is_broadcast: attempt.isBroadcast,
    ids: hasIds ? attempt.ids : attempt.inclusion ? [attempt.inclusion.hash] : [],
    on_record: onRecord(attempt),
    chain_now: chain.attempts[attempt.attempt] ?? null,
  }));
}

function onRecord({ inclusion, impossibleProof, isProofDoubted, isBroadcast, signed }: Attempt): string {
  if (inclusion)
    return `${inclusion.success ? 'executed' : 'failed'} in block ${inclusion.blockNumber}, ${inclusion.depth} deep by the follower`;
  if (impossibleProof) return 'can never be executed any more';
  if (isProofDoubted) return 'one endpoint alone has shown that it can never be executed';
  if (isBroadcast) return 'taken by a node';
  return signed ? 'signed' : 'signing has begun';
}
