import type { EntityManager } from 'typeorm';
import { audit } from '../audit/log';
import { cancellationNote, screening } from '../screening/destinations';
import type { TransactionEntity } from '../transactions/entity';

/**
 * Stores the reason why a transfer is abandoned, for its end and the audit log; only the first reason is stored, however many
 * cancellations follow.
 */
export async function recordCancellationReason(
  manager: EntityManager,
  { txId, clientId, requestId }: TransactionEntity,
  note = cancellationNote,
): Promise<void> {
  const [, marked] = await manager.query<[unknown, number]>(
    `update transactions set cancellation_reason = 'address_blacklisted', screening_note = $2 where tx_id = $1 and cancellation_reason is null`,
    [txId, note],
  );
  if (marked === 0) return;
  await audit(manager, {
    action: 'transfer.cancellation_begun',
    outcome: 'success',
    actor: screening,
    clientId,
    subject: { type: 'transaction', id: txId },
    detail: { code: 'address_blacklisted', reason: note },
    requestId,
  });
}
