import type { EntityManager } from 'typeorm';
import type { TransactionEntity } from '../../transactions/entity';
import { changeState } from '../../transactions/state';

/** SIGNING for the first attempt, and for one that brings the transfer out of NEEDS_ATTENTION. Call it under the transfer's lock. */
export async function enterSigning(manager: EntityManager, transfer: TransactionEntity): Promise<void> {
  const isFirst = transfer.signingBegunAt === null;
  if (!isFirst && transfer.status !== 'NEEDS_ATTENTION') return;
  await changeState(manager, transfer, 'SIGNING', {
    ...(isFirst && { signingBegunAt: () => 'clock_timestamp()' }),
    failureCode: null,
    failureMessage: null,
  });
}
