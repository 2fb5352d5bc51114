import { transferActivities } from '../activities';
import { continueFromRows, ended, type Next } from './next';
import type { TransferState } from './state';

/** Adopts the hold that was placed when the transfer was accepted, or finds that the transfer has ended meanwhile. */
export async function lock(state: TransferState): Promise<Next> {
  state.progress.needsDatabase('lock', 'Amount and fee bound are held since the transfer was accepted');
  state.forgetEnd();
  const adopted = await transferActivities.adoptHold({ txId: state.txId });
  if (adopted.outcome === 'ended') return ended(adopted);
  state.adopt(adopted.transfer);
  return adopted.transfer.isUnsigned ? { next: 'ask' } : continueFromRows(state);
}
