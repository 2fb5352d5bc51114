import type { DoubtedCount, ReservationOwner } from '../../chains/family';
import type { BeginSigningResult } from '../../messages/transfer';
import type { FailureCode } from '../../platform/codes';

/** Thrown inside the database transaction that begins an attempt: it is rolled back, and the result is returned. */
export class NotBegun extends Error {
  override readonly name = 'NotBegun';

  /** `doubt`: what is kept for operators although everything else is rolled back. */
  constructor(
    readonly result: Extract<BeginSigningResult, { outcome: 'wait' | 'needs_approval' | 'refused' }>,
    readonly doubt?: { owner: ReservationOwner; count: DoubtedCount },
  ) {
    super('reason' in result ? result.reason : result.outcome);
  }
}

/** @throws NotBegun always. */
export function refuse(code: FailureCode, reason: string): never {
  throw new NotBegun({ outcome: 'refused', code, reason });
}

/** The same for what screening refuses: a first attempt is then rejected. @throws NotBegun always. */
export function refuseByRule(code: FailureCode, reason: string): never {
  throw new NotBegun({ outcome: 'refused', code, reason, byRule: true });
}

/** There is nothing to begin while a block holds an attempt. @throws NotBegun always. */
export function refuseExecuted(reason: string): never {
  throw new NotBegun({ outcome: 'refused', code: 'business_error', reason, isExecuted: true });
}

/** There is nothing to begin before the chain has shown what becomes of the earlier attempts. @throws NotBegun always. */
export function refuseFollowed(reason: string): never {
  throw new NotBegun({ outcome: 'refused', code: 'business_error', reason, isFollowed: true });
}

/** Nothing is begun behind what waits for an operator. @throws NotBegun always. */
export function waitBehind(parkedTxId: string): never {
  const reason = `Transaction ${parkedTxId} of the same sender waits for an operator, and would be executed first`;
  throw new NotBegun({ outcome: 'wait', reason, isBehind: true });
}

/** A refusal that would end what has not begun is waited out instead. @throws what it is given, always. */
export function waitInstead(error: unknown): never {
  if (!(error instanceof NotBegun) || error.result.outcome !== 'refused') throw error;
  throw new NotBegun({ outcome: 'wait', reason: error.result.reason });
}

/** Of a transfer that is abandoned at most its cancellation is signed. @throws NotBegun always. */
export function refuseAbandoned(): never {
  refuse('abandoned', 'The transfer was abandoned: nothing of it is signed any more');
}
