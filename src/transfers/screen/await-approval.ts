import type { EntityManager } from 'typeorm';
import type { TransactionEntity } from '../../transactions/entity';
import { changeState } from '../../transactions/state';
import type { RefusalReason } from '../end/refusals';

export const approvalExpired: RefusalReason = { code: 'approval_expired', reason: 'Nobody has approved the transfer in time' };

/** AWAITING_APPROVAL, for a limited time from now; the transfer is PENDING. */
export async function awaitApproval(
  manager: EntityManager,
  transfer: Pick<TransactionEntity, 'txId' | 'version'>,
  waitSeconds: number,
): Promise<void> {
  await changeState(manager, transfer, 'AWAITING_APPROVAL', {
    approvalExpiresAt: () => `clock_timestamp() + make_interval(secs => ${Number(waitSeconds)})`,
  });
}
