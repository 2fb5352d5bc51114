import type { BroadcastOutcome } from '../../chains/chain-client';
import type { TransactionEntity } from '../../transactions/entity';
import type { ObserveDependencies } from '../dependencies';

/** How long signed bytes are sent again that every endpoint refuses in words that nobody knows. */
const limitMs = 6 * 60 * 60_000;
/** By then they have been sent some ten times. */
const alarmAfterMs = 5 * 60_000;

/**
 * What nobody knows is waited for like what passes, and refused only once it has lasted for hours: then an operator reads the words, who is
 * told of them much earlier.
 */
export function limitUnknown(
  { alarms }: Pick<ObserveDependencies, 'alarms'>,
  { txId, chain }: TransactionEntity,
  { attempt, signedAt }: { attempt: number; signedAt: Date },
  refusal: Exclude<BroadcastOutcome, { outcome: 'accepted' }>,
): typeof refusal {
  if (refusal.outcome !== 'waiting' || refusal.passing !== 'unknown') return refusal;
  const { reason } = refusal;
  const lastsMs = Date.now() - signedAt.getTime();
  if (lastsMs >= alarmAfterMs) {
    alarms.raise(
      `${txId} ${attempt}`,
      { alert: 'broadcast_refused', chain, tx_id: txId, reason },
      'every endpoint refuses a transaction in words that are not known; it is sent again',
    );
  }
  return lastsMs < limitMs ? refusal : { outcome: 'rejected', reason };
}
