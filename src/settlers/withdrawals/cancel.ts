import type { DataSource } from 'typeorm';
import { audit, type AuditActor } from '../../audit/log';
import { toReconcileRequired } from '../../orders/reconcile-required';
import { enqueue } from '../../outbox/outbox';
import { inTransaction, requestTransaction } from '../../platform/database';
import { GatewayError } from '../../platform/errors';
import type { TransactionEntity } from '../../transactions/entity';
import { findTransactionForUpdate, isEnded } from '../../transactions/state';
import { withdrawalType } from '../../transactions/types';
import { endUnsigned, whySigned } from '../../transfers/end/end';

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

const refusal = (message: string): GatewayError => new GatewayError('business_error', message);

/**
 * Cancels a withdrawal of which nothing is signed, in one database transaction: its end, what it holds, the audit row and the message to its
 * workflow. It has no client who could, and keeps its settler from any other withdrawal while it is open.
 * @throws GatewayError not_found; reconcile_required; business_error once signing has begun, when it has ended, and for other types; unavailable.
 */
export async function cancelWithdrawal(
  database: DataSource,
  { txId, actor, statedReason }: WithdrawalCancellation,
): Promise<void> {
  await inTransaction(
    database,
    async (manager) => {
      const withdrawal = await findTransactionForUpdate(manager, txId);
      const refused = whyNotCancelledByOperator(withdrawal);
      if (refused) throw refused;
      const { clientId, status } = withdrawal;
      await audit(manager, {
        ...{ action: 'transfer.cancelled', outcome: 'success', actor, clientId },
        subject: { type: 'transaction', id: txId },
        detail: { status, ...(statedReason !== undefined && { stated_reason: statedReason }) },
      });
      await enqueue(manager, { kind: 'transfer_ended', subjectId: txId, clientId });
      await endUnsigned(manager, withdrawal, { status: 'CANCELLED' });
    },
    requestTransaction,
  ).catch((error: unknown) => {
    throw toReconcileRequired(error) ?? error;
  });
}
