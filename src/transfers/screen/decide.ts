import type { EntityManager } from 'typeorm';
import { auditUser } from '../../audit/log';
import type { ItemOutcome } from '../../http/batch';
import type { Caller } from '../../http/context';
import type { MfaRequest } from '../../mfa/service';
import { enqueue } from '../../outbox/outbox';
import { GatewayError, notFound } from '../../platform/errors';
import type { TransactionEntity, TransactionStatus } from '../../transactions/entity';
import { changeState, findAnyForUpdate } from '../../transactions/state';
import { endUnsigned } from '../end/end';
import { recordRefusal, type RefusalReason } from '../end/refusals';

export const decisions = ['approve', 'reject'] as const;
export type DecisionKind = (typeof decisions)[number];

export interface Decision {
  txId: string;
  decision: DecisionKind;
}

export interface Decided {
  status: TransactionStatus;
  /** By this call; false: it was decided like this before. */
  isNew: boolean;
}

export interface DecidedItem extends Decision {
  outcome: ItemOutcome<Decided>;
}

const approvalRejected: RefusalReason = { code: 'approval_rejected', reason: 'A user has rejected the transfer' };

/**
 * Approves or rejects a transfer of the caller's client, under its lock and within the database transaction of the second factor. No effect
 * when it was decided in the same way before.
 * @throws GatewayError not_found, not_awaiting_approval, approver_is_requester.
 */
export async function decide(manager: EntityManager, request: MfaRequest, { txId, decision }: Decision): Promise<Decided> {
  const { clientId } = request.caller;
  const transfer = await findAnyForUpdate(manager, { clientId, txId });
  if (!transfer) throw notFound('transaction');
  if (isDecided(transfer, decision)) return { status: transfer.status, isNew: false };
  const refusal = await whyUndecidable(manager, transfer);
  if (refusal) throw refusal;
  return { status: await decisionHandlers[decision](manager, request, transfer), isNew: true };
}

/** Why nobody can approve or reject the transfer now; null: a user can, but its requester not always approve it. */
export async function whyUndecidable(manager: EntityManager, { txId, status }: TransactionEntity): Promise<GatewayError | null> {
  if (status !== 'AWAITING_APPROVAL') return notAwaiting(`The transaction is ${status}`);
  return (await hasExpired(manager, txId)) ? notAwaiting('The time to approve or reject the transfer is over') : null;
}

const isDecided = ({ approvedAt, status, failureCode }: TransactionEntity, decision: DecisionKind): boolean =>
  decision === 'approve'
    ? approvedAt !== null && status !== 'CANCELLED' && status !== 'REJECTED'
    : status === 'REJECTED' && failureCode === approvalRejected.code;

type DecisionHandler = (manager: EntityManager, request: MfaRequest, transfer: TransactionEntity) => Promise<TransactionStatus>;

const decisionHandlers: Record<DecisionKind, DecisionHandler> = {
  approve: async (manager, { caller, requestId }, transfer) => {
    const { txId, clientId } = transfer;
    if (transfer.requestedBy === caller.userId && (await needsAnotherApprover(manager, caller)))
      throw new GatewayError(
        'approver_is_requester',
        'You have requested this transfer: another user with a second factor has to approve it',
      );
    await changeState(manager, transfer, 'PENDING', { approvedBy: caller.userId, approvedAt: () => 'clock_timestamp()' });
    await enqueue(manager, { kind: 'transfer_approved', subjectId: txId, clientId });
    await auditUser(manager, caller, { action: 'transfer.approved', subject: { type: 'transaction', id: txId }, requestId });
    return 'PENDING';
  },
  reject: async (manager, { caller, requestId }, transfer) => {
    const { txId, clientId } = transfer;
    await enqueue(manager, { kind: 'transfer_ended', subjectId: txId, clientId });
    await recordRefusal(manager, { txId, attempt: 1 }, { kind: 'rule', ...approvalRejected });
    await endUnsigned(manager, transfer, { status: 'REJECTED', ...approvalRejected });
    await auditUser(manager, caller, { action: 'transfer.rejected', subject: { type: 'transaction', id: txId }, requestId });
    return 'REJECTED';
  },
};

/** Whether another user can approve. If no other user has a second factor, the requester's own is better than none. */
async function needsAnotherApprover(manager: EntityManager, { clientId, userId }: Caller): Promise<boolean> {
  const rows = await manager.query<unknown[]>(
    `select 1 from clients c join users u using (client_id) join user_totp t using (user_id)
      where c.client_id = $1 and not c.self_approval and u.user_id <> $2 and u.status = 'ACTIVE' and t.confirmed_at is not null limit 1`,
    [clientId, userId],
  );
  return rows.length > 0;
}

/** By the database's clock, which also ends the wait. */
async function hasExpired(manager: EntityManager, txId: string): Promise<boolean> {
  const rows = await manager.query<unknown[]>(
    'select 1 from transactions where tx_id = $1 and approval_expires_at <= clock_timestamp()',
    [txId],
  );
  return rows.length > 0;
}

export const notAwaiting = (message: string): GatewayError => new GatewayError('not_awaiting_approval', message);
