import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
create table audit_events (
  audit_id uuid primary key,
  -- always the database's own time, set by a trigger: rows cannot be backdated
  at timestamptz not null,
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
create index audit_events_by_time on audit_events (at, audit_id);
create index audit_events_by_client on audit_events (client_id, at, audit_id);
create index audit_events_by_subject on audit_events (subject_id, at, audit_id) where subject_id is not null;

-- Rows that are not sealed yet. A queue rather than a position in the log, so that rows which a long database transaction
-- commits late are sealed too.
create table audit_pending (
  audit_id uuid primary key
);

-- The hash chain: each seal covers its number, its time, the previous hash and its rows (src/audit/chain.ts).
create table audit_seals (
  seq bigint primary key check (seq >= 1),
  events integer not null check (events between 1 and 1000),
  sealed_at timestamptz not null,
  prev_hash bytea not null unique check (length(prev_hash) = 32),
  hash bytea not null unique check (length(hash) = 32)
);
create table audit_seal_entries (
  seq bigint not null,
  position integer not null check (position between 0 and 999),
  audit_id uuid not null unique,
  row_hash bytea not null check (length(row_hash) = 32),
  primary key (seq, position)
);

create function stamp_audit_event() returns trigger language plpgsql as $$
begin
  new.at := clock_timestamp();
  return new;
end $$;
create trigger audit_events_stamp before insert on audit_events for each row execute function stamp_audit_event();

create function queue_audit_event() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into audit_pending (audit_id) values (new.audit_id);
  return null;
end $$;
create trigger audit_events_queue after insert on audit_events for each row execute function queue_audit_event();

create trigger audit_events_append_only before update or delete or truncate on audit_events for each statement execute function refuse_change();
create trigger audit_seals_append_only before update or delete or truncate on audit_seals for each statement execute function refuse_change();
create trigger audit_seal_entries_append_only before update or delete or truncate on audit_seal_entries for each statement execute function refuse_change();
`;

/** The audit log: append-only rows, and the hash chain that seals them. */
export class Audit0010 implements MigrationInterface {
  readonly name = 'Audit1700000000010';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('the audit log is not dropped by a migration'));
  }
}
