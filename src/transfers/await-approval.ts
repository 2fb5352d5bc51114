import type { EntityManager } from 'typeorm';
import type { TransactionEntity } from '../transactions/entity';
import { changeState } from '../transactions/state';

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
