import type { DataSource } from 'typeorm';
import { auditUser, type RequestedBy } from '../../audit/log';
import { enqueue } from '../../outbox/outbox';
import { toReconcileRequired } from '../../orders/reconcile-required';
import { inTransaction, requestTransaction } from '../../platform/database';
import { GatewayError, notFound } from '../../platform/errors';
import type { TransactionEntity } from '../../transactions/entity';
import { findAnyForUpdate, isEnded } from '../../transactions/state';
import { endUnsigned, whySigned } from './end';

export interface Cancellation {
  clientId: string;
  txId: string;
  by: RequestedBy;
}

/** Why a client cannot cancel the transaction now; null: it can. Cancelling it again is no error, and is refused here. */
export function whyNotCancelled(transfer: TransactionEntity): GatewayError | null {
  if (!transfer.isHeld) return new GatewayError('not_cancellable', 'Only transfers can be cancelled');
  if (isEnded(transfer)) return new GatewayError('not_cancellable', `The transfer has ended: ${transfer.status}`);
  return whySigned(transfer);
}

/**
 * Cancels a transfer for its client, whether or not its workflow has started; no effect when it is already cancelled.
 * @returns whether it was cancelled by this call: its workflow is told once.
 * @throws GatewayError not_found; reconcile_required; not_cancellable once signing has begun or it has ended otherwise.
 */
export async function cancelTransfer(database: DataSource, { clientId, txId, by }: Cancellation): Promise<boolean> {
  return inTransaction(
    database,
    async (manager) => {
      const transfer = await findAnyForUpdate(manager, { clientId, txId });
      if (!transfer) throw notFound('transaction');
      if (transfer.isHeld && transfer.status === 'CANCELLED') return false;
      const refusal = whyNotCancelled(transfer);
      if (refusal) throw refusal;
      await auditUser(
        manager,
        { clientId, userId: by.userId },
        {
          action: 'transfer.cancelled',
          subject: { type: 'transaction', id: txId },
          requestId: by.requestId,
        },
      );
      await enqueue(manager, { kind: 'transfer_ended', subjectId: txId, clientId });
      await endUnsigned(manager, transfer, { status: 'CANCELLED', code: null, reason: null });
      return true;
    },
    requestTransaction,
  ).catch((error: unknown) => {
    throw toReconcileRequired(error) ?? error;
  });
}
