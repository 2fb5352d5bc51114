import type { EntityManager } from 'typeorm';
import { auditUser } from '../../audit/log';
import type { Caller } from '../../http/context';
import type { MfaRequest, MfaService } from '../../mfa/service';
import { GatewayError, notFound } from '../../platform/errors';
import { enqueue, type WorkflowOutbox } from '../../outbox/outbox';
import type { TransactionEntity } from '../../transactions/entity';
import { changeState, findAnyForUpdate } from '../../transactions/state';

export interface ApprovalsDependencies {
  mfa: MfaService;
  outbox: WorkflowOutbox;
}

/**
 * Approvals of transfers that wait for one. Checked and stored in one database transaction with the second factor; the workflow is
 * signalled afterwards and reads the state from Postgres.
 */
export class Approvals {
  constructor(private readonly deps: ApprovalsDependencies) {}

  /**
   * Approves a transfer of the caller's client; no effect when it is already approved.
   * @throws GatewayError as MfaService.authorize, not_found, not_awaiting_approval, approver_is_requester.
   */
  async approve(request: MfaRequest, txId: string): Promise<void> {
    const { clientId } = request.caller;
    let isApproved = false;
    await this.deps.mfa.authorize(
      request,
      async (manager) => {
        isApproved = await approve(manager, request, txId);
      },
      async (manager) => {
        const transfer = await findAnyForUpdate(manager, { clientId, txId });
        if (transfer?.approvedAt) throw notAwaiting('The transfer is already approved');
      },
    );
    // a client may repeat the call: each message would stay in the history of the workflow
    if (isApproved) this.deps.outbox.deliverSoon({ kind: 'transfer_approved', subjectId: txId, clientId });
  }
}

/** Why nobody can approve the transfer now; null: a user can, except for the one who has requested it where another one has to. */
export async function whyNotApproved(manager: EntityManager, transfer: TransactionEntity): Promise<GatewayError | null> {
  if (transfer.status !== 'AWAITING_APPROVAL') return notAwaiting(`The transaction is ${transfer.status}`);
  return (await hasExpired(manager, transfer.txId)) ? notAwaiting('The time to approve the transfer is over') : null;
}

/** Whether it was approved by this call. */
async function approve(manager: EntityManager, { caller, requestId }: MfaRequest, txId: string): Promise<boolean> {
  const { clientId, userId } = caller;
  const transfer = await findAnyForUpdate(manager, { clientId, txId });
  if (!transfer) throw notFound('transaction');
  if (transfer.approvedAt && transfer.status !== 'CANCELLED' && transfer.status !== 'REJECTED') return false;
  const refusal = await whyNotApproved(manager, transfer);
  if (refusal) throw refusal;
  if (transfer.requestedBy === userId && (await needsAnotherApprover(manager, caller)))
    throw new GatewayError(
      'approver_is_requester',
      'You have requested this transfer: another user with a second factor has to approve it',
    );
  await changeState(manager, transfer, 'PENDING', { approvedBy: userId, approvedAt: () => 'clock_timestamp()' });
  await enqueue(manager, { kind: 'transfer_approved', subjectId: txId, clientId });
  await auditUser(manager, caller, {
    action: 'transfer.approved',
    subject: { type: 'transaction', id: txId },
    requestId,
  });
  return true;
}

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

const notAwaiting = (message: string): GatewayError => new GatewayError('not_awaiting_approval', message);
