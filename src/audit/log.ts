import type { EntityManager } from 'typeorm';
import { newId } from '../platform/ids';

/** Who acted: a client's user through the API, an operator through the CLI, or the gateway itself (id: the process or component). */
export interface AuditActor {
  type: 'user' | 'operator' | 'system';
  id: string;
}

/** The user who asked for an act, and with which request. */
export interface RequestedBy {
  userId: string;
  requestId: string;
}

export interface AuditEvent {
  /** `subject.verb`, such as security_factor.created; see auditActions. */
  action: AuditAction;
  outcome: 'success' | 'refused';
  actor: AuditActor;
  /** null: not related to a client. */
  clientId: string | null;
  subject?: { type: string; id: string };
  /** Public facts only: no secret, code or token. Amounts as decimal strings. */
  detail?: Record<string, string | number | boolean | null>;
  requestId?: string | null;
  /** A UUID for an act that several may write: the first row with it stays, and others are not written. Else a new one. */
  auditId?: string;
}

/** All actions that are written to the audit log. */
export const auditActions = [
  'api_key.created',
  'api_key.revoked',
  'auth.failed',
  'auth.token_issued',
  'account.created',
  'account.disabled',
  'account.enabled',
  'account.consolidation_begun',
  'account.count_accepted',
  'account.reconciled',
  'asset.added',
  'asset.unfrozen',
  'client.created',
  'client.disabled',
  'client.enabled',
  'client.policy_changed',
  'mfa.locked',
  'mfa.refused',
  'mfa.unlocked',
  'orders.accepted_as_missing',
  'orders.rebuilt',
  'orders.reconciled',
  'schema.migrated',
  'secrets.resealed',
  'payment.accepted',
  'security_factor.activated',
  'security_factor.created',
  'security_factor.deactivated',
  'security_factor.deleted',
  'settlement.accepted',
  'settler.created',
  'settler.drained',
  'settler.made_primary',
  'settler.resumed',
  'settler.withdrawal_requested',
  'totp.confirmed',
  'totp.enrolled',
  'totp.recovery_code_used',
  'totp.removed',
  'transfer.accepted',
  'transfer.approved',
  'transfer.blacklisted_after_broadcast',
  'transfer.cancellation_begun',
  'transfer.cancelled',
  'transfer.redo_requested',
  'transfer.redone',
  'transfer.refused',
  'transfer.rejected',
  'transfer.abandoned',
  'transfer.retried',
  'transfer.signed',
  'transfer.signing_refused',
  'user.created',
  'user.disabled',
  'user.enabled',
  'wallet.activated',
  'wallet.created',
  'wallet.key_bound_again',
  'wallet.limit_changed',
  'wallet.resumed',
  'wallet.suspended',
  'webhook.created',
  'webhook.deleted',
  'webhook.disabled',
  'webhook.secret_rotated',
  'webhook.updated',
  'workflow.pinned',
  'workflow.unpinned',
  'worker_build.made_current',
  'worker_build.ramped',
  'x402.payer_funded',
  'x402.policy_changed',
] as const;
export type AuditAction = (typeof auditActions)[number];

/**
 * Appends to the audit log. With the manager of the database transaction that it describes, event and change are committed together;
 * a refusal needs a manager of its own. The database sets the time. Rows are added to the hash chain later (src/audit/seal.ts), so
 * that writers do not wait for each other.
 */
export async function audit(manager: EntityManager, event: AuditEvent): Promise<void> {
  const { action, outcome, actor, clientId, subject, detail = {}, requestId = null, auditId = newId() } = event;
  await manager.query(
    `insert into audit_events (audit_id, action, outcome, actor_type, actor_id, client_id, subject_type, subject_id, detail, request_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)${event.auditId === undefined ? '' : ' on conflict do nothing'}`,
    [
      auditId,
      action,
      outcome,
      actor.type,
      actor.id,
      clientId,
      subject?.type ?? null,
      subject?.id ?? null,
      JSON.stringify(detail),
      requestId,
    ],
  );
}

/** `audit` for what a user of a client did through the API. */
export function auditUser(
  manager: EntityManager,
  { clientId, userId }: { clientId: string; userId: string },
  event: Omit<AuditEvent, 'actor' | 'clientId' | 'outcome'> & Partial<Pick<AuditEvent, 'outcome'>>,
): Promise<void> {
  return audit(manager, { outcome: 'success', ...event, actor: { type: 'user', id: userId }, clientId });
}
