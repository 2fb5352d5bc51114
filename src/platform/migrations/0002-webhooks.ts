/** Webhooks: endpoints, the outbox of events, deliveries with their attempts. */
export const webhookTables = /* sql */ `
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
  -- sealed by SecretBox; null once deleted
  secret bytea,
  -- the idempotent request that made the secret: asked again, it answers the same one
  secret_made_by uuid not null,
  previous_secret bytea,
  previous_secret_until timestamptz,
  -- when the unbroken run of failed attempts began
  failing_since timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- kept as a row: an event being written must never fail because its endpoint goes away at that moment
  deleted_at timestamptz,
  check ((status = 'disabled') = (disabled_reason is not null and disabled_at is not null)),
  check ((previous_secret is null) = (previous_secret_until is null)),
  check (case when deleted_at is null then secret is not null else status = 'disabled' and secret is null and previous_secret is null end)
);
create index webhook_endpoints_by_client on webhook_endpoints (client_id, webhook_id desc) where deleted_at is null;

-- The outbox: what happened, with a snapshot of its subject, written in the change's own database transaction.
create table webhook_events (
  event_id uuid primary key default time_ordered_uuid(),
  -- rises with every change of one subject, since changes of a row wait for each other
  position bigint generated always as identity unique,
  client_id uuid not null references clients,
  kind text not null,
  subject_id uuid not null,
  -- columns of the subject's row at that moment, amounts as text in atomic units
  snapshot jsonb not null,
  created_at timestamptz not null default clock_timestamp()
);
create index webhook_events_by_age on webhook_events (created_at);

-- One per event and endpoint that was enabled for its kind when it happened.
create table webhook_deliveries (
  delivery_id uuid primary key default time_ordered_uuid(),
  webhook_id uuid not null references webhook_endpoints,
  event_id uuid not null references webhook_events on delete cascade,
  subject_id uuid not null,
  position bigint not null,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  attempts integer not null default 0 check (attempts >= 0),
  -- attempts since it was last queued: a resend begins the schedule anew
  round_attempts integer not null default 0 check (round_attempts >= 0),
  next_attempt_at timestamptz default clock_timestamp(),
  -- since when it waits for the dispatcher; null: its workflow knows
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
  -- null: there was no answer, and the error says why
  status_code smallint check (status_code between 100 and 999),
  error text check (length(error) <= 50),
  -- the beginning of the answer
  excerpt text not null default '' check (octet_length(excerpt) <= 1024),
  primary key (delivery_id, attempt),
  check ((status_code is null) = (error is not null))
);

-- Writes an event and its deliveries, if anybody wants them.
create function tell_webhooks(of_client uuid, of_kind text, of_subject uuid, of_snapshot jsonb) returns void language plpgsql as $$
declare
  event webhook_events;
begin
  if not exists (
    select 1 from webhook_endpoints
     where client_id = of_client and status = 'enabled' and deleted_at is null and (events is null or of_kind = any (events))
  ) then return; end if;
  insert into webhook_events (client_id, kind, subject_id, snapshot) values (of_client, of_kind, of_subject, of_snapshot) returning * into event;
  insert into webhook_deliveries (webhook_id, event_id, subject_id, position)
    select webhook_id, event.event_id, event.subject_id, event.position from webhook_endpoints
     where client_id = of_client and status = 'enabled' and deleted_at is null and (events is null or of_kind = any (events));
end $$;

create function tell_of_transaction() returns trigger language plpgsql as $$
begin
  perform tell_webhooks(
    new.client_id,
    case
      when new.transaction_type = 'INBOUND' and new.status = 'DETECTED' then 'deposit.detected'
      when new.transaction_type = 'INBOUND' and new.status = 'CONFIRMED' then 'deposit.confirmed'
      when tg_op = 'INSERT' then 'transaction.created'
      else 'transaction.updated'
    end,
    new.tx_id,
    jsonb_build_object(
      'tx_id', new.tx_id, 'wallet_id', new.wallet_id, 'client_id', new.client_id, 'chain', new.chain,
      'transaction_type', new.transaction_type, 'from_address', new.from_address, 'to_address', new.to_address,
      'token_symbol', new.token_symbol, 'decimals', new.decimals, 'amount', new.amount::text, 'status', new.status,
      'tx_hash', new.tx_hash, 'created_at', new.created_at, 'updated_at', new.updated_at, 'memo', new.memo,
      'fee', new.fee::text, 'fee_symbol', new.fee_symbol, 'fee_decimals', new.fee_decimals,
      'failure_code', new.failure_code, 'failure_message', new.failure_message, 'version', new.version));
  return null;
end $$;
create trigger transactions_created_webhooks after insert on transactions for each row execute function tell_of_transaction();
create trigger transactions_updated_webhooks after update on transactions for each row
  when (new.version <> old.version) execute function tell_of_transaction();

create function tell_of_wallet() returns trigger language plpgsql as $$
begin
  perform tell_webhooks(new.client_id, 'wallet.active', new.wallet_id, jsonb_build_object(
    'wallet_id', new.wallet_id, 'client_id', new.client_id, 'wallet_name', new.wallet_name, 'description', new.description,
    'status', new.status, 'key_status', new.key_status, 'created_at', new.created_at, 'updated_at', new.updated_at));
  return null;
end $$;
create trigger wallets_webhooks after update on wallets for each row
  when (new.status = 'ACTIVE' and old.status <> 'ACTIVE') execute function tell_of_wallet();

create function tell_of_security_factor() returns trigger language plpgsql as $$
begin
  perform tell_webhooks(new.client_id, 'security_factor.changed', new.factor_id, jsonb_build_object(
    'factor_id', new.factor_id, 'factor_type', new.factor_type, 'chain', new.chain, 'address', new.address, 'label', new.label,
    'reason', new.reason, 'status', new.status, 'added_by', new.added_by, 'created_at', new.created_at, 'updated_at', new.updated_at,
    'change', case
      when tg_op = 'INSERT' then 'created'
      when new.deleted_at is not null then 'deleted'
      when new.status = old.status then 'updated'
      when new.status = 'active' then 'activated'
      else 'deactivated'
    end));
  return null;
end $$;
create trigger security_factors_created_webhooks after insert on security_factors for each row execute function tell_of_security_factor();
create trigger security_factors_updated_webhooks after update on security_factors for each row
  when ((new.status, new.label, new.reason, new.deleted_at) is distinct from (old.status, old.label, old.reason, old.deleted_at))
  execute function tell_of_security_factor();
`;
