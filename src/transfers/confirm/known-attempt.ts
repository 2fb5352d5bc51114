import type { KnownAttempt } from '../../chains/chain-client';
import type { TransactionIntent } from '../../chains/types';
import { toAttemptIntent } from '../../transactions/intent';
import type { Attempt } from '../attempts';

/** An attempt, with what is needed to ask a chain for its status. `intent`: of its transaction. */
export function toKnownAttempt(intent: TransactionIntent, attempt: Attempt): KnownAttempt {
  const { kind, unsigned, messageKey, ids, expiry, begunAt } = attempt;
  return { attempt: attempt.attempt, kind, intent: toAttemptIntent(intent, kind), unsigned, messageKey, ids, expiry, begunAt };
}
