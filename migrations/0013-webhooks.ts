import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
create table webhook_endpoints (
  webhook_id uuid primary key,
  client_id uuid not null references clients,
  url text not null check (length(url) between 1 and 2048),
  description text not null default '' check (length(description) <= 500),
  -- null: events of every kind
  events text[] check (cardinality(events) between 1 and 20),
  status text not null default 'enabled' check (status in ('enabled', 'disabled')),
  disabled_reason text check (disabled_reason in ('client', 'gone', 'failing')),
  disabled_at timestamptz,
  -- encrypted by SecretBox; null once deleted
  secret bytea,
  -- the resource id of the request that created the secret: if repeated, that request returns the same secret
  secret_created_by uuid not null,
  previous_secret bytea,
  previous_secret_until timestamptz,
  -- time of the first failed attempt since the last success
  failing_since timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- deletion keeps the row, so that an event written at the same moment does not fail for a missing endpoint
  deleted_at timestamptz,
  check ((status = 'disabled') = (disabled_reason is not null and disabled_at is not null)),
  check ((previous_secret is null) = (previous_secret_until is null)),
  check (case when deleted_at is null then secret is not null else status = 'disabled' and secret is null and previous_secret is null end)
);
create index webhook_endpoints_by_client on webhook_endpoints (client_id, webhook_id desc) where deleted_at is null;

-- The outbox: what happened, with a snapshot of its subject, written in the same database transaction as the change.
create table webhook_events (
  event_id uuid primary key default time_ordered_uuid(),
  -- increases with every change of one subject, since row locks serialise those changes
  position bigint generated always as identity unique,
  client_id uuid not null references clients,
  kind text not null,
  subject_id uuid not null,
  -- columns of the subject's row at that time; amounts are text, in atomic units
  snapshot jsonb not null,
  created_at timestamptz not null default clock_timestamp()
);
create index webhook_events_by_age on webhook_events (created_at);

-- One row per event and endpoint that was enabled for events of that kind at the time.
create table webhook_deliveries (
  delivery_id uuid primary key default time_ordered_uuid(),
  webhook_id uuid not null references webhook_endpoints,
  event_id uuid not null references webhook_events on delete cascade,
  subject_id uuid not null,
  position bigint not null,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  attempts integer not null default 0 check (attempts >= 0),
  -- attempts since it was last queued: a resend starts the retry schedule again
  round_attempts integer not null default 0 check (round_attempts >= 0),
  next_attempt_at timestamptz default clock_timestamp(),
  -- since when it waits for the dispatcher; null: its workflow has been informed
  undispatched_since timestamptz default clock_timestamp(),
  created_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  unique (webhook_id, event_id),
  check ((status = 'pending') = (ended_at is null)),
  check ((status = 'pending') = (next_attempt_at is not null)),
  check (status = 'pending' or undispatched_since is null)
);
create index webhook_deliveries_undispatched on webhook_deliveries (undispatched_since) where undispatched_since is not null;
create index webhook_deliveries_pending on webhook_deliveries (webhook_id, subject_id, position) where status = 'pending';
create index webhook_deliveries_by_webhook on webhook_deliveries (webhook_id, position desc);
create index webhook_deliveries_failed on webhook_deliveries (webhook_id, created_at) where status = 'failed';
create index webhook_deliveries_by_event on webhook_deliveries (event_id);

create table webhook_attempts (
  delivery_id uuid not null references webhook_deliveries on delete cascade,
  attempt integer not null check (attempt >= 1),
  at timestamptz not null,
  duration_ms integer not null check (duration_ms >= 0),
  -- null: there was no response, and error says why
  status_code smallint check (status_code between 100 and 999),
  error text check (length(error) <= 50),
  -- first bytes of the response body
  excerpt text not null default '' check (octet_length(excerpt) <= 1024),
  primary key (delivery_id, attempt),
  check ((status_code is null) = (error is not null))
);
`;

/** Webhook endpoints, the outbox of events, deliveries with their attempts. */
export class Webhooks0013 implements MigrationInterface {
  readonly name = 'Webhooks1700000000013';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('webhooks are not dropped by a migration'));
  }
}
