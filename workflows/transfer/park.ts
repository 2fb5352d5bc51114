import { transferActivities } from '../activities';
import type { Next, Park } from './next';
import type { TransferState } from './state';
import { triedAgainMs } from './waits';

/** Before what a node has refused is sent again. */
const sendAgainMs = 3_000;

/**
 * NEEDS_ATTENTION until an operator's `retry` or `abandon`, or the chain's decision; what may pass is also tried again by itself. Nothing is
 * unlocked. What is abandoned by time waits no longer than that: its time is read again from time to time, since it ends early where nobody
 * needs the transaction any more.
 */
export async function waitForOperator(state: TransferState, parked: Park): Promise<Next> {
  const { txId, progress } = state;
  const { code, reason, onRetry, abandoned, isForNow } = parked;
  const result = await transferActivities.parkTransfer({ txId, code, reason });
  if (result.outcome === 'ended') return { next: 'lock' };
  if (result.timeLeftMs !== undefined && state.isTimed) state.shortenTime(result.timeLeftMs);
  progress.status('NEEDS_ATTENTION', code);
  const abandon =
    abandoned && state.lastAttempt > 0 ? ' A transfer that cannot continue is ended with the update `abandon`.' : '';
  progress.report('park', `${code}: ${reason}. Remove the cause, then send the update \`retry\`.${abandon}`, state.lastAttempt);
  const decision = await state.attention(abandoned !== null, {
    // a node may refuse for now, as one whose pool is full: of a transaction whose time ends nobody has to be asked
    ...((onRetry.next === 'broadcast' || isForNow) && { timedMs: sendAgainMs }),
    ...(isForNow && { untimedMs: triedAgainMs(state.transfer.stuckAfterMs) }),
  });
  if (state.isEnded || decision === 'continue') return { next: 'lock' };
  if (decision === 'abandon' && abandoned) return abandoned;
  if (decision === 'again') return parked;
  if (decision !== 'decided') return onRetry;
  state.isFollowed = true;
  return { next: 'confirm' };
}
