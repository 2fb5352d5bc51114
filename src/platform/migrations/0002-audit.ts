/** The audit log: append-only rows, and the hash chain that seals them. */
export const auditTables = /* sql */ `
create table audit_events (
  audit_id uuid primary key,
  at timestamptz not null default clock_timestamp(),
  action text not null check (length(action) between 1 and 100),
  outcome text not null check (outcome in ('success', 'refused')),
  actor_type text not null check (actor_type in ('user', 'operator', 'system')),
  actor_id text not null check (length(actor_id) between 1 and 200),
  client_id uuid,
  subject_type text,
  subject_id text,
  detail jsonb not null default '{}',
  request_id text
);
create index audit_events_by_client on audit_events (client_id, audit_id desc);
create trigger audit_events_append_only before update or delete or truncate on audit_events for each statement execute function refuse_change();
`;
