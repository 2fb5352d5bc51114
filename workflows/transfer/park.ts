import { transferActivities } from '../activities';
import { runbook } from '../progress';
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
  const detail = `${code}: ${reason}. Remove the cause, then send the update \`retry\`.${abandon}`;
  progress.report('park', detail, state.lastAttempt, adviseOn(state, parked));
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

/** What an operator reads in the Temporal UI: what to do comes first, since it shows the first lines alone. */
function adviseOn({ txId, lastAttempt }: TransferState, { code, reason, abandoned, isForNow }: Park): string {
  const page = `\`${runbook(code)}\``;
  const whatToDo = `**Waits for an operator: ${code}.** Remove the cause (${page}), then \`gateway transfers retry ${txId}\` or the update \`retry\`.`;
  return [
    isForNow ? `${whatToDo} It is also tried again by itself.` : whatToDo,
    `Reason: ${reason}`,
    abandoned && lastAttempt > 0 ? `To give it up: \`gateway transfers abandon ${txId}\`.` : '',
  ]
    .filter(Boolean)
    .join('\n\n');
}
