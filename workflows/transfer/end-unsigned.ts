import type { FailureCode } from '../../src/platform/codes';
import { transferActivities } from '../activities';
import { ended, type Next } from './next';
import type { TransferState } from './state';

/** Unlocks and ends a transfer of which nothing was signed. */
export async function endUnsigned(
  { txId }: TransferState,
  status: 'REJECTED' | 'FAILED',
  code: FailureCode,
  reason: string,
): Promise<Next> {
  const end = await transferActivities.endTransfer({ txId, status, code, reason });
  return ended({ status: end.status, code, reason });
}
