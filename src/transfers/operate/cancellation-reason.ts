import type { EntityManager } from 'typeorm';
import { audit, type AuditActor } from '../../audit/log';
import type { FailureCode } from '../../platform/codes';
import { blacklistedReason, cancellationNote, screening } from '../../screening/destinations';
import type { TransactionEntity } from '../../transactions/entity';
import { signingNodes } from '../sign/signing-audit';

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
  if (marked > 0)
    await auditCancellation(manager, { txId, clientId, requestId }, screening, { code: 'address_blacklisted', reason: note });
}

/** The actor of cancellations that nobody asked for: the time was over. */
const timeLimit: AuditActor = { type: 'system', id: 'time limit' };
/** The end of what was abandoned by time. */
export const expired = { code: 'expired', reason: 'It was not executed in time' } as const;

/** What was to be executed in time was not: the transfer is abandoned. Call it under the transfer's lock. */
export async function recordExpiry(manager: EntityManager, transaction: TransactionEntity): Promise<void> {
  const [, marked] = await manager.query<[unknown, number]>(
    `update transactions set cancellation_reason = 'expired' where tx_id = $1 and cancellation_reason is null`,
    [transaction.txId],
  );
  if (marked > 0) await auditCancellation(manager, transaction, timeLimit, expired);
}

const policyReason = 'Two signing nodes refused by their own limits';

/** Code and reason of a transfer that was stopped by screening, by the signing nodes or by its time; undefined for every other. */
export function reasonToStop({
  cancellationReason,
}: Pick<TransactionEntity, 'cancellationReason'>): { code: FailureCode; reason: string } | undefined {
  switch (cancellationReason) {
    case 'address_blacklisted':
      return { code: cancellationReason, reason: blacklistedReason };
    case 'node_policy':
      return { code: cancellationReason, reason: policyReason };
    case 'expired':
      return expired;
    default:
      return undefined;
  }
}

/** The limits of two nodes do not allow the first attempt: the transfer is abandoned. Call it under the transfer's lock. */
export async function recordPolicyReason(manager: EntityManager, transfer: TransactionEntity, reason: string): Promise<void> {
  const [, marked] = await manager.query<[unknown, number]>(
    `update transactions set cancellation_reason = 'node_policy' where tx_id = $1 and cancellation_reason is null`,
    [transfer.txId],
  );
  if (marked > 0) await auditCancellation(manager, transfer, signingNodes, { code: 'node_policy', reason });
}

async function auditCancellation(
  manager: EntityManager,
  { txId, clientId, requestId }: Pick<TransactionEntity, 'txId' | 'clientId' | 'requestId'>,
  actor: AuditActor,
  detail: { code: string; reason: string },
): Promise<void> {
  await audit(manager, {
    action: 'transfer.cancellation_begun',
    outcome: 'success',
    actor,
    clientId,
    subject: { type: 'transaction', id: txId },
    detail,
    requestId,
  });
}
