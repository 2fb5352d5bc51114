import type { TransferEnd } from '../../src/messages/transfer';
import { transferActivities } from '../activities';
import { ended, type Next } from './next';
import type { TransferState } from './state';

/**
 * Unlocks and ends a transfer of which nothing was signed, for the refusal that the refusing step has recorded; one that has ended
 * meanwhile, as by its client's cancel, keeps its end.
 */
export async function endUnsigned({ txId }: TransferState, { code, reason }: Omit<TransferEnd, 'status'>): Promise<Next> {
  const end = await transferActivities.endTransfer({ txId });
  // histories from before the activity answered more than the status
  return ended({ ...{ code, reason }, ...end });
}
