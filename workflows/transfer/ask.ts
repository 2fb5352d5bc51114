import { chainActivities } from '../activities';
import { type Next, resumed } from './next';
import type { TransferState } from './state';

/**
 * This run begins with an attempt that it has no signatures of. An earlier run, or a node, may have sent it: what the chain has executed
 * is settled, and needs no approval, no list and no further order.
 */
export async function ask(state: TransferState): Promise<Next> {
  state.progress.report('ask', 'Begun by an earlier run: the chain is asked before anything is signed', state.lastAttempt);
  const { state: seen } = await chainActivities(state.transfer.chain).observe({ txId: state.txId });
  if (seen === 'absent') return resumed(state);
  state.isFollowed = true;
  return seen === 'confirmed' ? { next: 'settle' } : { next: 'confirm' };
}
