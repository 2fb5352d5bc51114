import type { DataSource } from 'typeorm';
import { enqueue } from '../../outbox/outbox';
import { inTransaction, requestTransaction } from '../../platform/database';
import { findTransactionForUpdate, isEnded } from '../../transactions/state';
import { endUnsigned } from '../../transfers/end/end';

/** Whoever waits for a shorter time does not take it from another one. */
const minAgeMs = 5_000;

/**
 * Cancels a settlement of which nothing was begun in the time that its client waits: the answer is then no half one, and the same payment
 * can be settled again. It has no effect on one that is ended or begun, or that was accepted just now.
 */
export function endUnbegun(database: DataSource, clientId: string, txId: string): Promise<void> {
  return inTransaction(
    database,
    async (manager) => {
      const transaction = await findTransactionForUpdate(manager, txId);
      if (isEnded(transaction) || transaction.signingBegunAt !== null) return;
      if (Date.now() - transaction.createdAt.getTime() < minAgeMs) return;
      await enqueue(manager, { kind: 'transfer_ended', subjectId: txId, clientId });
      await endUnsigned(manager, transaction, {
        status: 'CANCELLED',
        code: 'unavailable',
        reason: 'Its signing had not begun in the time that the client waited',
      });
    },
    requestTransaction,
  );
}
