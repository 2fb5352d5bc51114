import type { DataSource, EntityManager } from 'typeorm';
import { audit } from '../audit/log';
import { enqueue, type WorkflowOutbox } from '../outbox/outbox';
import { inTransaction } from '../platform/database';
import { screening } from '../screening/destinations';
import { findTransactionForUpdate } from '../transactions/state';
import { endUnsigned } from './end';

/** Transfers a round. */
const batch = 50;
const code = 'approval_expired';
const reason = 'Nobody has approved the transfer in time';
const isExpired = `status = 'AWAITING_APPROVAL' and approval_expires_at <= clock_timestamp()`;

/** Rejects the transfers that nobody has approved in time, by the database's clock; run periodically, in several processes if need be. */
export async function expireApprovals(database: DataSource, outbox: WorkflowOutbox): Promise<void> {
  const rows = await database.query<{ tx_id: string; client_id: string }[]>(
    `select tx_id, client_id from transactions where ${isExpired} order by approval_expires_at limit $1`,
    [batch],
  );
  for (const { tx_id: txId, client_id: clientId } of rows) {
    if (await inTransaction(database, (manager) => expire(manager, txId)))
      outbox.deliverSoon({ kind: 'transfer_ended', subjectId: txId, clientId });
  }
}

/** False when it was approved, cancelled or rejected meanwhile. */
async function expire(manager: EntityManager, txId: string): Promise<boolean> {
  const transfer = await findTransactionForUpdate(manager, txId);
  const [expired] = await manager.query<unknown[]>(`select from transactions where tx_id = $1 and ${isExpired}`, [txId]);
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
