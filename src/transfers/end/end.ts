import type { EntityManager } from 'typeorm';
import type { TransferEnd } from '../../messages/transfer';
import { audit } from '../../audit/log';
import { releaseReservations } from '../../chains/reservations';
import { releaseHold } from '../../ledger/entries';
import { post } from '../../ledger/posting';
import { inTransaction } from '../../platform/database';
import type { FailureCode } from '../../platform/codes';
import { GatewayError } from '../../platform/errors';
import { screening } from '../../screening/destinations';
import type { TransactionEntity } from '../../transactions/entity';
import { rulesOf } from '../../transactions/signed-type';
import { changeState, isEnded, findTransactionForUpdate } from '../../transactions/state';
import type { Attempts } from '../attempts';
import { loadAttempts } from '../load-attempts';
import { expired, reasonToStop } from '../operate/cancellation-reason';
import type { TransferDependencies } from '../dependencies';
import { findHoldForUpdate, repayFromHold } from '../hold';
import { isAbandonRequested } from '../operate/operator-requests';
import { findRefusal, type Refusal, type RefusalReason } from './refusals';

/**
 * Unlocks everything and ends a transfer of which nothing was signed, as the refusal on record says. An ended one stays as it is.
 * @throws GatewayError not_cancellable without a refusal, and once signing has begun: what is signed may still be executed.
 */
export function endTransfer({ database }: TransferDependencies, { txId }: { txId: string }): Promise<TransferEnd> {
  return inTransaction(database, async (manager) => {
    const transfer = await findTransactionForUpdate(manager, txId);
    if (isEnded(transfer)) return toEnd(transfer);
    const refusal = await findRefusal(manager, { txId, attempt: 1 });
    if (!refusal) throw new GatewayError('not_cancellable', 'Nothing on record has refused the transfer');
    return endRefused(manager, transfer, refusal);
  });
}

/**
 * Within a database transaction that holds the transfer's lock, for a refusal that is on record: unlocks everything and ends it as
 * REJECTED by a rule, otherwise as FAILED.
 * @throws GatewayError not_cancellable once signing has begun.
 */
export async function endRefused(
  manager: EntityManager,
  transfer: TransactionEntity,
  { kind, code, reason }: Refusal,
): Promise<TransferEnd> {
  const status = kind === 'rule' ? 'REJECTED' : 'FAILED';
  await endUnsigned(manager, transfer, { status, code, reason });
  if (status === 'REJECTED') {
    await audit(manager, {
      action: 'transfer.refused',
      outcome: 'refused',
      actor: screening,
      clientId: transfer.clientId,
      subject: { type: 'transaction', id: transfer.txId },
      detail: { code, reason },
      requestId: transfer.requestId,
    });
  }
  return { status, code, reason };
}

/** How an ended transfer has ended. */
export const toEnd = ({ status, failureCode, failureMessage }: TransactionEntity): TransferEnd => ({
  status,
  code: failureCode,
  reason: failureMessage,
});

export interface UnsignedEnd {
  status: 'REJECTED' | 'FAILED' | 'CANCELLED';
  /** Absent, as the reason, for operators: their login may write neither, and the database clears what it was parked for. */
  code?: FailureCode | null;
  reason?: string | null;
}

/** not_cancellable once its signing has begun; null before. */
export const whySigned = ({ isSigned, signingBegunAt }: TransactionEntity): GatewayError | null =>
  !isSigned || signingBegunAt !== null
    ? new GatewayError('not_cancellable', 'Signing has begun: the transfer may still be executed')
    : null;

/**
 * Within a database transaction that holds the transfer's lock: unlocks everything and ends it.
 * @throws GatewayError not_cancellable once signing has begun.
 */
export async function endUnsigned(manager: EntityManager, transfer: TransactionEntity, end: UnsignedEnd): Promise<void> {
  const refusal = whySigned(transfer);
  if (refusal) throw refusal;
  await endAndUnlock(manager, transfer, end);
}

/** Its end, and everything that it holds is unlocked. */
async function endAndUnlock(
  manager: EntityManager,
  transfer: TransactionEntity,
  { status, code, reason }: UnsignedEnd,
): Promise<void> {
  const hold = transfer.isHeld ? await findHoldForUpdate(manager, transfer) : null;
  const failure = code === undefined ? {} : { failureCode: code, failureMessage: reason ?? null };
  const seq = await changeState(manager, transfer, status, failure);
  if (hold) await post(manager, [{ txId: transfer.txId, kind: 'unlock', seq, entries: releaseHold(hold) }]);
}

/**
 * Unlocks everything and ends a transfer as FAILED after its signing has begun: every attempt has a stored proof that it can never
 * be executed, which the database checks again. Its reason is why it was abandoned, that an operator wants it abandoned, that another
 * transaction has used up what it was to spend (with an alert: that one is not on record), that its time is over, or why the next attempt was
 * refused. An ended one stays as it is.
 * @throws GatewayError not_cancellable while an attempt may still be executed, and while another one may be begun.
 */
export function failByProof(
  deps: Pick<TransferDependencies, 'database' | 'registry' | 'getFamily' | 'getSignedType' | 'log'>,
  { txId }: { txId: string },
): Promise<TransferEnd> {
  return inTransaction(deps.database, async (manager) => {
    const transfer = await findTransactionForUpdate(manager, txId);
    if (isEnded(transfer)) return toEnd(transfer);
    const attempts = await loadAttempts(manager, txId);
    if (!attempts.allImpossible) throw new GatewayError('not_cancellable', 'An attempt of the transfer may still be executed');
    const { code, reason } = await findReasonToFail(manager, deps, transfer, attempts);
    if (code === 'superseded') {
      const alert = { alert: 'spent_elsewhere', tx_id: txId, chain: transfer.chain, used_by: attempts.usedBy };
      deps.log.error(alert, 'a transaction that is not on record has used up what the transfer was to spend');
    }
    const end = { status: 'FAILED', code, reason } as const;
    await endAndUnlock(manager, transfer, end);
    if (transfer.isHeld) await repayFromHold(manager, transfer);
    await releaseReservations(manager, [txId]);
    return end;
  });
}

async function findReasonToFail(
  manager: EntityManager,
  { registry, getFamily, getSignedType }: Pick<TransferDependencies, 'registry' | 'getFamily' | 'getSignedType'>,
  transfer: TransactionEntity,
  attempts: Attempts,
): Promise<RefusalReason> {
  const stopped = reasonToStop(transfer);
  if (stopped) return stopped;
  const isWanted = () => isAbandonRequested(manager, transfer.txId, attempts.last?.attempt ?? 0);
  if (attempts.isAbandoned || (await isWanted()))
    return { code: 'abandoned', reason: 'The transfer was abandoned and its attempts can no longer be executed' };
  if (attempts.endsByProof && attempts.usedBy !== null)
    return { code: 'superseded', reason: `Another transaction has used up what it was to spend: ${attempts.usedBy}` };
  if (attempts.endsByProof)
    return { code: 'funding_lost', reason: 'What it was to spend was reorganised away, and can never come back' };
  const type = getSignedType(transfer.transactionType);
  const { expired: whenExpired } = rulesOf(type, getFamily(registry.get(transfer.chain).family));
  if (whenExpired === 'fail') return { code: 'expired', reason: 'It has moved nothing, and never can' };
  const timeLeft = await type.timeLeft(manager, transfer);
  if (timeLeft !== null && timeLeft <= 0) return expired;
  const refusal = await findRefusal(manager, { txId: transfer.txId, attempt: attempts.nextNumber });
  if (!refusal) throw new GatewayError('not_cancellable', 'Another attempt of the transfer may be begun: nothing has refused it');
  return refusal;
}
