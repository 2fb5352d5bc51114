import type { DataSource, EntityManager } from 'typeorm';
import { enqueue, type WorkflowOutbox } from '../../outbox/outbox';
import { inTransaction, requestTransaction } from '../../platform/database';
import type { TransactionEntity } from '../../transactions/entity';
import { findTransactionForUpdate } from '../../transactions/state';
import { approvalExpired } from './await-approval';
import { endRefused } from '../end/end';
import { recordRefusal, type Refusal } from '../end/refusals';

/** Transfers per round. */
const batch = 50;
const refusal: Refusal = { kind: 'rule', ...approvalExpired };

/**
 * Rejects transfers whose approval is overdue, by the database's clock; runs periodically, and several processes may: each takes transfers
 * that no other has locked. The workflow has a timer for the same, and each is needed: this one ends a transfer in time while Temporal is
 * down, the timer one whose signal was lost with a database that was restored. Whichever comes second finds the end.
 */
export async function expireApprovals(database: DataSource, outbox: WorkflowOutbox): Promise<void> {
  const failed = new Map<string, unknown>();
  for (let round = 0; round < batch; round += 1) {
    let current: string | undefined;
    try {
      const expired = await inTransaction(
        database,
        async (manager) => {
          const transfer = await takeExpired(manager, [...failed.keys()]);
          current = transfer?.txId;
          return transfer && expire(manager, transfer);
        },
        requestTransaction,
      );
      if (!expired) break;
      outbox.deliverSoon({ kind: 'transfer_ended', subjectId: expired.txId, clientId: expired.clientId });
    } catch (error) {
      // one that is broken must not delay the others
      if (current === undefined) throw error;
      failed.set(current, error);
    }
  }
  if (failed.size > 0) throw new AggregateError([...failed.values()], `${failed.size} overdue approvals could not be ended`);
}

/** The one that is overdue for longest, locked; null: there is none that is not locked. */
async function takeExpired(manager: EntityManager, without: string[]): Promise<TransactionEntity | null> {
  const [row] = await manager.query<{ tx_id: string }[]>(
    `select tx_id from transactions where status = 'AWAITING_APPROVAL' and approval_expires_at <= clock_timestamp() and tx_id <> all ($1::uuid[])
      order by approval_expires_at limit 1 for no key update skip locked`,
    [without],
  );
  return row ? findTransactionForUpdate(manager, row.tx_id) : null;
}

async function expire(manager: EntityManager, transfer: TransactionEntity): Promise<TransactionEntity> {
  const { txId, clientId } = transfer;
  await enqueue(manager, { kind: 'transfer_ended', subjectId: txId, clientId });
  await recordRefusal(manager, { txId, attempt: 1 }, refusal);
  await endRefused(manager, transfer, refusal);
  return transfer;
}
