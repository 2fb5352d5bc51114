import type { ChainDefinition } from '../../chains/types';
import type { Attempts } from '../attempts';
import { maxReplacements } from '../../messages/transfer';
import { NotBegun, refuse } from './not-begun';

/** Cancellations of one transfer: an operator may ask for more after the workflow has parked it. */
const maxCancellations = 10;

/**
 * An attempt at a higher fee takes the place of one that had the chain's time to be included, and there are only so many: whoever
 * asks the authoriser cannot have a transfer pay more and more without need. The first cancellation replaces nothing of its kind and
 * does not wait.
 * @throws NotBegun `wait` while the newest attempt is too young; stuck when there were enough.
 */
export function assertMayReplace(chain: ChainDefinition, attempts: Attempts, kind: 'replacement' | 'cancellation'): void {
  assertFewEnough(attempts, kind);
  const { last } = attempts;
  if (!last || (kind === 'cancellation' && last.kind !== 'cancellation')) return;
  const leftMs = last.begunAt.getTime() + chain.stuckAfterMs - Date.now();
  if (leftMs <= 0) return;
  const reason = `Attempt ${last.attempt} is replaced in ${Math.ceil(leftMs / 1000)} s at the earliest`;
  throw new NotBegun({ outcome: 'wait', reason });
}

/** @throws NotBegun stuck when there were enough of this kind. */
export function assertFewEnough(attempts: Attempts, kind: 'replacement' | 'cancellation'): void {
  const max = { replacement: maxReplacements, cancellation: maxCancellations }[kind];
  const count = attempts.all.filter((attempt) => attempt.kind === kind).length;
  if (count >= max) refuse('stuck', `Not included in time after ${count} ${kind}s: no other one is ordered`);
}
