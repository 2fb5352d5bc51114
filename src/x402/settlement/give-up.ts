import type { DataSource } from 'typeorm';
import { enqueue } from '../../outbox/outbox';
import { inTransaction, requestTransaction } from '../../platform/database';
import { findTransactionForUpdate, isEnded } from '../../transactions/state';
import { endUnsigned } from '../../transfers/end';

/**
 * Cancels a settlement of which nothing was begun in the time that its client waits: the answer is then no half one, and the same payment
 * can be settled again. It has no effect on one that is ended or begun.
 * @returns whether it is cancelled now
 */
export function giveUpUnbegun(database: DataSource, clientId: string, txId: string): Promise<boolean> {
  return inTransaction(
    database,
    async (manager) => {
      const transaction = await findTransactionForUpdate(manager, txId);
      if (isEnded(transaction) || transaction.signingBegunAt !== null) return false;
      await enqueue(manager, { kind: 'transfer_ended', subjectId: txId, clientId });
      await endUnsigned(manager, transaction, {
        status: 'CANCELLED',
        code: 'unavailable',
        reason: 'Its signing had not begun in the time that the client waited',
      });
      return true;
    },
    requestTransaction,
  );
}
