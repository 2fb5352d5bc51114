import type { DataSource, EntityManager } from 'typeorm';
import { enqueue, type WorkflowOutbox } from '../../outbox/outbox';
import { inTransaction, requestTransaction } from '../../platform/database';
import { findTransactionForUpdate } from '../../transactions/state';
import { approvalExpired } from './await-approval';
import { endRefused } from '../end/end';
import { recordRefusal, type Refusal } from '../end/refusals';

/** Transfers per round. */
const batch = 50;
const refusal: Refusal = { kind: 'rule', ...approvalExpired };
const whereExpired = `status = 'AWAITING_APPROVAL' and approval_expires_at <= clock_timestamp()`;

/**
 * Rejects transfers whose approval is overdue, by the database's clock; runs periodically, possibly in several processes. The workflow has
 * a timer for the same, and each is needed: this one ends a transfer in time while Temporal is down, the timer one whose signal was lost
 * with a database that was restored. Whichever comes second finds the end.
 */
export async function expireApprovals(database: DataSource, outbox: WorkflowOutbox): Promise<void> {
  const rows = await database.query<{ tx_id: string; client_id: string }[]>(
    `select tx_id, client_id from transactions where ${whereExpired} order by approval_expires_at limit $1`,
    [batch],
  );
  const failures: unknown[] = [];
  for (const { tx_id: txId, client_id: clientId } of rows) {
    try {
      const isExpired = await inTransaction(database, (manager) => expire(manager, txId), requestTransaction);
      if (isExpired) outbox.deliverSoon({ kind: 'transfer_ended', subjectId: txId, clientId });
    } catch (error) {
      // a transfer that is locked or broken must not delay the others
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} overdue approvals could not be ended`);
}

/** False when it was approved, cancelled or rejected meanwhile. */
async function expire(manager: EntityManager, txId: string): Promise<boolean> {
  const transfer = await findTransactionForUpdate(manager, txId);
  const [expired] = await manager.query<unknown[]>(`select from transactions where tx_id = $1 and ${whereExpired}`, [txId]);
  if (!expired) return false;
  await enqueue(manager, { kind: 'transfer_ended', subjectId: txId, clientId: transfer.clientId });
  await recordRefusal(manager, { txId, attempt: 1 }, refusal);
  await endRefused(manager, transfer, refusal);
  return true;
}
