import type { EntityManager } from 'typeorm';
import type { EndTransfer, RequestedBy } from '../messages/transfer';
import { audit, type AuditActor } from '../audit/log';
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
import type { StepDependencies } from './dependencies';
import { findHoldForUpdate } from './hold';

/** A cancellation that does not say whose wish it is. */
const unnamed: AuditActor = { type: 'system', id: 'workflow' };

/**
 * Unlocks everything and ends a transfer of which nothing was signed. An ended one stays as it is.
 * @throws GatewayError not_cancellable once signing has begun: what is signed may still be executed.
 */
export function endTransfer(
  { database }: StepDependencies,
  { txId, status, code, reason }: EndTransfer,
): Promise<{ status: string }> {
  return inTransaction(database, async (manager) => {
    const transfer = await findTransactionForUpdate(manager, txId);
    if (isEnded(transfer)) return { status: transfer.status };
    await endUnsigned(manager, transfer, { txId, status, code, reason });
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
    return { status };
  });
}

/**
 * Cancels at the client's wish; a second cancel answers like the first.
 * @throws GatewayError not_cancellable once signing has begun or the transfer has ended otherwise.
 */
export function cancelTransfer(
  { database }: Pick<StepDependencies, 'database'>,
  { txId, by }: { txId: string; by?: RequestedBy },
): Promise<{ status: string }> {
  return inTransaction(database, async (manager) => {
    const transfer = await findTransactionForUpdate(manager, txId);
    if (transfer.status === 'CANCELLED') return { status: transfer.status };
    if (isEnded(transfer)) throw new GatewayError('not_cancellable', `The transfer is ${transfer.status}`);
    await endUnsigned(manager, transfer, { txId, status: 'CANCELLED', code: null, reason: null });
    await audit(manager, {
      action: 'transfer.cancelled',
      outcome: 'success',
      actor: by ? { type: 'user', id: by.userId } : unnamed,
      clientId: transfer.clientId,
      subject: { type: 'transaction', id: txId },
      requestId: by?.requestId ?? null,
    });
    return { status: 'CANCELLED' };
  });
}

/**
 * Unlocks everything and ends a transfer as FAILED after its signing has begun: every attempt has a stored proof that it can never
 * be executed. The database checks that again. An ended one stays as it is.
 * @throws GatewayError not_cancellable while an attempt may still be executed.
 */
export function failByProof(
  { database }: Pick<StepDependencies, 'database'>,
  { txId, code, reason }: { txId: string; code: FailureCode; reason: string },
): Promise<{ status: string }> {
  return inTransaction(database, async (manager) => {
    const transfer = await findTransactionForUpdate(manager, txId);
    if (isEnded(transfer)) return { status: transfer.status };
    if (!(await loadAttempts(manager, txId)).allImpossible)
      throw new GatewayError('not_cancellable', 'An attempt of the transfer may still be executed');
    const hold = await findHoldForUpdate(manager, transfer);
    const seq = await changeState(manager, transfer, 'FAILED', { failureCode: code, failureMessage: reason });
    await post(manager, [{ txId, kind: 'unlock', seq, entries: releaseHold(hold) }]);
    await releaseReservations(manager, [txId]);
    return { status: 'FAILED' };
  });
}

async function endUnsigned(
  manager: EntityManager,
  transfer: TransactionEntity,
  { txId, status, code, reason }: EndTransfer,
): Promise<void> {
  if (!transfer.isSigned || transfer.signingBegunAt !== null) {
    throw new GatewayError('not_cancellable', 'Signing has begun: the transfer may still be executed');
  }
  const hold = await findHoldForUpdate(manager, transfer);
  const seq = await changeState(manager, transfer, status, { failureCode: code, failureMessage: reason });
  await post(manager, [{ txId, kind: 'unlock', seq, entries: releaseHold(hold) }]);
}
