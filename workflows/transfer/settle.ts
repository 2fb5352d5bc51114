import { transferActivities } from '../activities';
import { ended, type Next, park } from './next';
import type { TransferState } from './state';

/** By the effect the chain shows, posted in one database transaction; what cannot be decided waits for an operator. */
export async function settle(state: TransferState): Promise<Next> {
  state.progress.needsDatabase('settle', 'Posts what the chain shows', state.lastAttempt);
  const { status, code, reason } = await transferActivities.settleTransfer({ txId: state.txId });
  if (status === 'WAITING') {
    // the polls continue as before: the follower signals when it is deep enough
    state.waitingSince = Date.now();
    return { next: 'confirm' };
  }
  if (status !== 'NEEDS_ATTENTION') return ended({ status, code, reason });
  // what was included without the expected effect has used up what it spends
  return park(code ?? 'transfer_not_observed', reason ?? '', { next: 'confirm' }, null);
}
