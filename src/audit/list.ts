import type { EntityManager } from 'typeorm';
import type { AuditAction, AuditEvent } from './log';

export interface AuditFilter {
  clientId?: string;
  action?: AuditAction;
  outcome?: AuditEvent['outcome'];
  /** Id of the actor, without its type. */
  actor?: string;
  /** Id of the subject, without its type. */
  subject?: string;
  /** Inclusive. */
  since?: Date;
  /** Exclusive. */
  until?: Date;
  limit: number;
}

export interface AuditRow {
  audit_id: string;
  at: Date;
  action: AuditAction;
  outcome: AuditEvent['outcome'];
  actor_type: AuditEvent['actor']['type'];
  actor_id: string;
  client_id: string | null;
  subject_type: string | null;
  subject_id: string | null;
  detail: NonNullable<AuditEvent['detail']>;
  request_id: string | null;
}

const conditions = {
  clientId: 'client_id = ?',
  action: 'action = ?',
  outcome: 'outcome = ?',
  actor: 'actor_id = ?',
  subject: 'subject_id = ?',
  since: 'at >= ?',
  until: 'at < ?',
} as const;

/** Rows of the audit log, newest first. */
export function listAuditLog(manager: EntityManager, { limit, ...filter }: AuditFilter): Promise<AuditRow[]> {
  const given = (Object.keys(conditions) as (keyof typeof conditions)[]).filter((name) => filter[name] !== undefined);
  const where = given.map((name, place) => conditions[name].replace('?', `$${place + 2}`)).join(' and ');
  return manager.query<AuditRow[]>(
    `select audit_id, at, action, outcome, actor_type, actor_id, client_id, subject_type, subject_id, detail, request_id
       from audit_events ${where && `where ${where}`} order by at desc, audit_id desc limit $1`,
    [limit, ...given.map((name) => filter[name])],
  );
}
