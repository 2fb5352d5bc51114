import type { DataSource, EntityManager } from 'typeorm';
import { audit, type AuditActor } from '../../audit/log';
import { toReconcileRequired } from '../../orders/reconcile-required';
import { enqueue } from '../../outbox/outbox';
import { inTransaction, requestTransaction } from '../../platform/database';
import { GatewayError } from '../../platform/errors';
import { houseClientId } from '../../platform/house';
import type { TransactionEntity } from '../../transactions/entity';
import { findTransactionForUpdate, isEnded } from '../../transactions/state';
import { withdrawalType } from '../../transactions/types';
import { endUnsigned, whySigned } from '../../transfers/end/end';
import { findUnmade, lockRequest, refuseRequest, type UnmadeWithdrawal } from './request';

export interface WithdrawalCancellation {
  txId: string;
  /** The operator. */
  actor: AuditActor;
  /** Of the operator, for the audit log. */
  statedReason?: string | undefined;
}

/** Why operators cannot cancel the transaction now; null: they can. */
export function whyNotCancelledByOperator(transaction: TransactionEntity): GatewayError | null {
  const { transactionType, status } = transaction;
  if (transactionType !== withdrawalType)
    return refusal(`Operators cancel withdrawals from settlers alone, and this is of type ${transactionType}`);
  if (isEnded(transaction)) return refusal(`The withdrawal has ended: ${status}`);
  if (whySigned(transaction))
    return refusal(
      'Signing has begun: the withdrawal may still be executed. Once it is parked, `gateway transfers abandon` ends it',
    );
  return null;
}

/** The same of one that has no transaction. */
export const whyRequestNotCancelled = ({ refused }: UnmadeWithdrawal): GatewayError | null =>
  refused === null ? null : refusal(`Nothing is withdrawn: ${refused}`);

const refusal = (message: string): GatewayError => new GatewayError('business_error', message);

/**
 * Cancels a withdrawal of which nothing is signed, in one database transaction: its end, what it holds, the audit row and the message to its
 * workflow. It has no client who could, and keeps its settler from any other withdrawal while it is open. One that no worker has made yet
 * holds nothing, and never gets a transaction.
 * @throws GatewayError not_found; reconcile_required; business_error once signing has begun, when it has ended, and for other types; unavailable.
 */
export async function cancelWithdrawal(database: DataSource, cancellation: WithdrawalCancellation): Promise<void> {
  const { txId } = cancellation;
  await inTransaction(
    database,
    async (manager) => {
      await lockRequest(manager, txId);
      const request = await findUnmade(manager, txId);
      return request ? cancelRequest(manager, cancellation, request) : cancelMade(manager, cancellation);
    },
    requestTransaction,
  ).catch((error: unknown) => {
    throw toReconcileRequired(error) ?? error;
  });
}

async function cancelRequest(
  manager: EntityManager,
  { txId, actor, statedReason }: WithdrawalCancellation,
  request: UnmadeWithdrawal,
): Promise<void> {
  const refused = whyRequestNotCancelled(request);
  if (refused) throw refused;
  await audit(manager, {
    ...{ action: 'transfer.cancelled', outcome: 'success', actor, clientId: houseClientId },
    subject: { type: 'transaction', id: txId },
    detail: { status: 'requested', settler_id: request.settlerId, ...toStated(statedReason) },
  });
  await refuseRequest(manager, txId, `cancelled by ${actor.id}`);
}

async function cancelMade(manager: EntityManager, { txId, actor, statedReason }: WithdrawalCancellation): Promise<void> {
  const withdrawal = await findTransactionForUpdate(manager, txId);
  const refused = whyNotCancelledByOperator(withdrawal);
  if (refused) throw refused;
  const { clientId, status } = withdrawal;
  await audit(manager, {
    ...{ action: 'transfer.cancelled', outcome: 'success', actor, clientId },
    subject: { type: 'transaction', id: txId },
    detail: { status, ...toStated(statedReason) },
  });
  await enqueue(manager, { kind: 'transfer_ended', subjectId: txId, clientId });
  await endUnsigned(manager, withdrawal, { status: 'CANCELLED' });
}

const toStated = (reason: string | undefined): { stated_reason?: string } =>
  reason === undefined ? {} : { stated_reason: reason };
