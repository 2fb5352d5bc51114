import type { EntityManager } from 'typeorm';
import type { ParkResult } from '../../messages/transfer';
import type { FailureCode } from '../../platform/codes';
import { inTransaction } from '../../platform/database';
import type { TransactionEntity } from '../../transactions/entity';
import { changeState, isEnded, findTransactionForUpdate } from '../../transactions/state';
import type { TransferDependencies } from '../dependencies';
import { auditSigningRefused, isSigningRefused } from '../sign/signing-audit';

/** Parks a transfer for an operator; nothing is unlocked. An ended one stays as it is, and there is nothing to wait for. */
export function parkTransfer(
  { database, getSignedType }: Pick<TransferDependencies, 'database' | 'getSignedType'>,
  { txId, code, reason }: { txId: string; code: FailureCode; reason: string },
): Promise<ParkResult> {
  return inTransaction(database, async (manager) => {
    const transfer = await findTransactionForUpdate(manager, txId);
    if (isEnded(transfer)) return { outcome: 'ended' };
    // what is repeated after a crash is on record already
    const isRepeated =
      transfer.failureCode === code && transfer.failureMessage === reason && transfer.status === 'NEEDS_ATTENTION';
    if (isSigningRefused(code) && !isRepeated) await auditSigningRefused(manager, transfer, { code, reason });
    await park(manager, transfer, code, reason);
    const timeLeftMs = await getSignedType(transfer.transactionType).timeLeft(manager, transfer);
    return { outcome: 'parked', ...(timeLeftMs !== null && { timeLeftMs }) };
  });
}

/** The same within a database transaction that holds the transfer's lock; parked already: only the reason is renewed. */
export async function park(
  manager: EntityManager,
  transfer: TransactionEntity,
  code: FailureCode,
  reason: string,
): Promise<void> {
  if (transfer.status !== 'NEEDS_ATTENTION') {
    await changeState(manager, transfer, 'NEEDS_ATTENTION', { failureCode: code, failureMessage: reason });
    return;
  }
  await manager.query('update transactions set failure_code = $2, failure_message = $3 where tx_id = $1', [
    transfer.txId,
    code,
    reason,
  ]);
}
