import type { DataSource, EntityManager } from 'typeorm';
import { audit } from '../audit/log';
import { enqueue, type WorkflowOutbox } from '../outbox/outbox';
import { inTransaction, requestTransaction } from '../platform/database';
import { screening } from '../screening/destinations';
import { findTransactionForUpdate } from '../transactions/state';
import { endUnsigned } from './end';

/** Transfers a round. */
const batch = 50;
const code = 'approval_expired';
const reason = 'Nobody has approved the transfer in time';
const whereExpired = `status = 'AWAITING_APPROVAL' and approval_expires_at <= clock_timestamp()`;

/** Rejects the transfers that nobody has approved in time, by the database's clock; run periodically, in several processes if need be. */
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
      // one that is locked or wrong does not keep the others waiting
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} approvals could not be expired`);
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
