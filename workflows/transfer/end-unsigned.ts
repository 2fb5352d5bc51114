import type { FailureCode } from '../../src/platform/codes';
import { transferActivities } from '../activities';
import { ended, type Next } from './next';
import type { TransferState } from './state';

/** Unlocks and ends a transfer of which nothing was signed; one that has ended meanwhile, as by its client's cancel, keeps its end. */
export async function endUnsigned(
  { txId }: TransferState,
  status: 'REJECTED' | 'FAILED',
  code: FailureCode,
  reason: string,
): Promise<Next> {
  const end = await transferActivities.endTransfer({ txId, status, code, reason });
  // histories from before the activity answered more than the status
  return ended({ ...{ code, reason }, ...end });
}
