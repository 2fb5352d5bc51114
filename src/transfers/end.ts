import type { EntityManager } from 'typeorm';
import type { EndTransfer, TransferEnd } from '../messages/transfer';
import { audit } from '../audit/log';
import { releaseReservations } from '../chains/reservations';
import { releaseHold } from '../ledger/entries';
import { post } from '../ledger/posting';
import { inTransaction } from '../platform/database';
import type { FailureCode } from '../platform/codes';
import { GatewayError } from '../platform/errors';
import { screening } from '../screening/destinations';
import type { TransactionEntity } from '../transactions/entity';
import { changeState, isEnded, findTransactionForUpdate } from '../transactions/state';
import { loadAttempts } from './attempts';
import { reasonToStop } from './cancellation-reason';
import type { TransferDependencies } from './dependencies';
import { findHoldForUpdate } from './hold';

/**
 * Unlocks everything and ends a transfer of which nothing was signed. An ended one stays as it is.
 * @throws GatewayError not_cancellable once signing has begun: what is signed may still be executed.
 */
export function endTransfer(
  { database }: TransferDependencies,
  { txId, status, code, reason }: EndTransfer,
): Promise<TransferEnd> {
  return inTransaction(database, async (manager) => {
    const transfer = await findTransactionForUpdate(manager, txId);
    if (isEnded(transfer)) return toEnd(transfer);
    await endUnsigned(manager, transfer, { status, code, reason });
    if (status === 'REJECTED') {
      await audit(manager, {
        action: 'transfer.refused',
        outcome: 'refused',
        actor: screening,
        clientId: transfer.clientId,
        subject: { type: 'transaction', id: txId },
        detail: { code, reason },
        requestId: transfer.requestId,
      });
    }
    return { status, code, reason };
  });
}

/** How an ended transfer has ended. */
export const toEnd = ({ status, failureCode, failureMessage }: TransactionEntity): TransferEnd => ({
  status,
  code: failureCode,
  reason: failureMessage,
});

export interface UnsignedEnd {
  status: 'REJECTED' | 'FAILED' | 'CANCELLED';
  code: FailureCode | null;
  reason: string | null;
}

/**
 * Within a database transaction that holds the transfer's lock: unlocks everything and ends it.
 * @throws GatewayError not_cancellable once signing has begun.
 */
export async function endUnsigned(
  manager: EntityManager,
  transfer: TransactionEntity,
  { status, code, reason }: UnsignedEnd,
): Promise<void> {
  if (!transfer.isSigned || transfer.signingBegunAt !== null) {
    throw new GatewayError('not_cancellable', 'Signing has begun: the transfer may still be executed');
  }
  await endAndUnlock(manager, transfer, { status, code, reason });
}

/** Its end, and everything that it holds is unlocked. */
async function endAndUnlock(
  manager: EntityManager,
  transfer: TransactionEntity,
  { status, code, reason }: UnsignedEnd,
): Promise<void> {
  const hold = transfer.isHeld ? await findHoldForUpdate(manager, transfer) : null;
  const seq = await changeState(manager, transfer, status, { failureCode: code, failureMessage: reason });
  if (hold) await post(manager, [{ txId: transfer.txId, kind: 'unlock', seq, entries: releaseHold(hold) }]);
}

/**
 * Unlocks everything and ends a transfer as FAILED after its signing has begun: every attempt has a stored proof that it can never
 * be executed, which the database checks again. A transfer that was stopped by screening or by the nodes gets that reason. An ended
 * one stays as it is.
 * @throws GatewayError not_cancellable while an attempt may still be executed.
 */
export function failByProof(
  { database }: Pick<TransferDependencies, 'database'>,
  { txId, code, reason }: { txId: string; code: FailureCode; reason: string },
): Promise<TransferEnd> {
  return inTransaction(database, async (manager) => {
    const transfer = await findTransactionForUpdate(manager, txId);
    if (isEnded(transfer)) return toEnd(transfer);
    if (!(await loadAttempts(manager, txId)).allImpossible)
      throw new GatewayError('not_cancellable', 'An attempt of the transfer may still be executed');
    const end: TransferEnd & { status: 'FAILED' } = { status: 'FAILED', ...(reasonToStop(transfer) ?? { code, reason }) };
    await endAndUnlock(manager, transfer, end);
    await releaseReservations(manager, [txId]);
    return end;
  });
}
