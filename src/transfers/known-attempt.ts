import type { KnownAttempt } from '../chains/family';
import type { TransactionEntity } from '../transactions/entity';
import { toIntent } from '../transactions/intent';
import type { Attempt } from './attempts';

/** An attempt, with what is needed to ask a chain for its status. */
export function toKnownAttempt(transfer: TransactionEntity, attempt: Attempt): KnownAttempt {
  const { kind, unsigned, messageKey, ids, expiry, begunAt } = attempt;
  return { attempt: attempt.attempt, kind, intent: toIntent(transfer, kind), unsigned, messageKey, ids, expiry, begunAt };
}
