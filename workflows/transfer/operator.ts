import { transferActivities } from '../activities';
import type { Next, Park } from './next';
import type { TransferState } from './state';

/** NEEDS_ATTENTION until an operator's `retry` or `abandon`, or news from the chain. Nothing is unlocked. */
export async function waitForOperator(state: TransferState, { code, reason, resume, isAbandonable }: Park): Promise<Next> {
  const { txId, progress } = state;
  const parked = await transferActivities.parkTransfer({ txId, code, reason });
  if (parked?.outcome === 'ended') return { next: 'lock' };
  progress.status('NEEDS_ATTENTION', code);
  const abandon = isAbandonable && state.lastAttempt > 0 ? ' What can never go on is given up with the update `abandon`.' : '';
  progress.report('park', `${code}: ${reason}. Mend the cause, then send the update \`retry\`.${abandon}`, state.lastAttempt);
  const decision = await state.attention(isAbandonable);
  if (state.isEnded) return { next: 'lock' };
  if (decision === 'abandon') return { next: 'abandon' };
  return decision === 'included' ? { next: 'confirm' } : resume;
}

/**
 * Gives the transfer up after signing has begun. Where a nonce or input can be used up, a cancellation does that; where attempts
 * expire, that is waited for. An earlier attempt that is executed all the same is settled as usual.
 */
export async function abandon(state: TransferState): Promise<Next> {
  if (state.transfer.rules.giveUp === 'cancel') return { next: 'prepare', kind: 'cancellation' };
  await transferActivities.abandonTransfer({ txId: state.txId });
  state.isAbandoned = true;
  state.isFollowed = true;
  return { next: 'confirm' };
}
