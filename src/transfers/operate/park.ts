import type { EntityManager } from 'typeorm';
import type { ParkResult } from '../../messages/transfer';
import type { FailureCode } from '../../platform/codes';
import { inTransaction } from '../../platform/database';
import type { Logger } from '../../platform/logging';
import type { TransactionEntity } from '../../transactions/entity';
import { changeState, isEnded, findTransactionForUpdate } from '../../transactions/state';
import type { TransferDependencies } from '../dependencies';
import { auditSigningRefused, isSigningRefused } from '../sign/signing-audit';

/** Parks a transfer for an operator; nothing is unlocked. An ended one stays as it is, and there is nothing to wait for. */
export function parkTransfer(
  { database, getSignedType, log }: Pick<TransferDependencies, 'database' | 'getSignedType' | 'log'>,
  { txId, code, reason }: { txId: string; code: FailureCode; reason: string },
): Promise<ParkResult> {
  return inTransaction(database, async (manager) => {
    const transfer = await findTransactionForUpdate(manager, txId);
    if (isEnded(transfer)) return { outcome: 'ended' };
    // what is repeated after a crash is on record already
    const isRepeated =
      transfer.failureCode === code && transfer.failureMessage === reason && transfer.status === 'NEEDS_ATTENTION';
    if (isSigningRefused(code) && !isRepeated) await auditSigningRefused(manager, transfer, { code, reason });
    await park(manager, transfer, { code, reason }, log);
    const timeLeftMs = await getSignedType(transfer.transactionType).timeLeft(manager, transfer);
    return { outcome: 'parked', ...(timeLeftMs !== null && { timeLeftMs }) };
  });
}

/**
 * The same within a database transaction that holds the transfer's lock; parked already: only the reason is renewed. Logged once for each code, and
 * before the commit: one that is rolled back and repeated is logged twice.
 */
export async function park(
  manager: EntityManager,
  transfer: TransactionEntity,
  { code, reason }: { code: FailureCode; reason: string },
  log: Pick<Logger, 'warn'>,
): Promise<void> {
  const { txId, chain, transactionType: type } = transfer;
  const isParked = transfer.status === 'NEEDS_ATTENTION';
  if (!isParked) await changeState(manager, transfer, 'NEEDS_ATTENTION', { failureCode: code, failureMessage: reason });
  else
    await manager.query('update transactions set failure_code = $2, failure_message = $3 where tx_id = $1', [txId, code, reason]);
  if (isParked && transfer.failureCode === code) return;
  log.warn(
    { tx_id: txId, chain, type, code, reason },
    'a transaction waits for an operator: `gateway explain` says why and what can be done',
  );
}
