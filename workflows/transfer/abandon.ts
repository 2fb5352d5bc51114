import { transferActivities } from '../activities';
import { ended, type Next } from './next';
import type { TransferState } from './state';

/**
 * Abandons the transfer after signing has begun. A cancellation uses up the reservation; in families whose attempts expire, the
 * expiry is waited for. If an earlier attempt is executed after all, it is settled as usual.
 */
export async function abandon(state: TransferState): Promise<Next> {
  state.progress.report('abandon', '', state.lastAttempt);
  if (state.transfer.rules.abandoned === 'cancel') return { next: 'prepare', kind: 'cancellation' };
  await transferActivities.abandonTransfer({ txId: state.txId });
  state.isAbandoned = true;
  state.isFollowed = true;
  return { next: 'confirm' };
}

/** Nothing that was signed can be executed any more, which is proven for every attempt: everything is unlocked. */
export async function failByProof({ txId, progress, lastAttempt }: TransferState): Promise<Next> {
  progress.report('failByProof', 'Every attempt is proven impossible', lastAttempt);
  return ended(await transferActivities.failByProof({ txId }));
}
