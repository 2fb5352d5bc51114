import { transferActivities } from '../activities';
import { ended, type Next } from './next';
import type { TransferState } from './state';

/**
 * Unlocks and ends a transfer of which nothing was signed, for the refusal that the refusing step has recorded; one that has ended
 * meanwhile, as by its client's cancel, keeps its end.
 */
export async function endUnsigned({ txId }: TransferState): Promise<Next> {
  return ended(await transferActivities.endTransfer({ txId }));
}
