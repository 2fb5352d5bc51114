import type { BroadcastOutcome } from '../../chains/chain-client';
import type { BroadcastResult } from '../../messages/transfer';
import type { TransactionEntity } from '../../transactions/entity';
import type { ObserveDependencies } from '../dependencies';

/** How long it is waited for where nobody can tell whether a refusal passes: by then the bytes have been sent some ten times. */
const limitMs = 5 * 60_000;

/**
 * What cannot be told may pass, and is waited for for some minutes. Then it is for an operator, with an alarm: while it waits the transfer can
 * be abandoned, and those behind it are held.
 */
export function limitUnknown(
  { alarms }: Pick<ObserveDependencies, 'alarms'>,
  { txId, chain }: TransactionEntity,
  { attempt, signedAt }: { attempt: number; signedAt: Date },
  refusal: Exclude<BroadcastOutcome, { outcome: 'accepted' }>,
): Exclude<BroadcastResult, { outcome: 'accepted' }> {
  if (refusal.outcome !== 'waiting' || refusal.passing !== 'unknown') return refusal;
  if (Date.now() - signedAt.getTime() < limitMs) return refusal;
  const { reason } = refusal;
  alarms.raise(
    `${txId} ${attempt}`,
    { alert: 'broadcast_refused', chain, tx_id: txId, reason },
    'no endpoint takes a transaction, and nothing shows that this passes; it is sent again',
  );
  return { outcome: 'rejected', reason, isUnknown: true };
}
