import type { DataSource, EntityManager } from 'typeorm';
import { audit } from '../audit/log';
import { enqueue, type WorkflowOutbox } from '../outbox/outbox';
import { inTransaction, requestTransaction } from '../platform/database';
import { screening } from '../screening/destinations';
import { findTransactionForUpdate } from '../transactions/state';
import { endUnsigned } from './end';

/** Transfers per round. */
const batch = 50;
const code = 'approval_expired';
const reason = 'Nobody has approved the transfer in time';
const whereExpired = `status = 'AWAITING_APPROVAL' and approval_expires_at <= clock_timestamp()`;

/** Rejects transfers whose approval is overdue, by the database's clock; runs periodically, possibly in several processes. */
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
  const { clientId, requestId } = transfer;
  await audit(manager, {
    action: 'transfer.refused',
    outcome: 'refused',
    actor: screening,
    clientId,
    subject: { type: 'transaction', id: txId },
    detail: { code, reason },
    requestId,
  });
  await enqueue(manager, { kind: 'transfer_ended', subjectId: txId, clientId });
  await endUnsigned(manager, transfer, { status: 'REJECTED', code, reason });
  return true;
}
