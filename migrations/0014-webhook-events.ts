import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- Writes an event and its deliveries if at least one enabled endpoint wants events of this kind.
create function enqueue_webhook_event(of_client uuid, of_kind text, of_subject uuid, of_snapshot jsonb) returns void language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
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

create function enqueue_transaction_event() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform enqueue_webhook_event(
    new.client_id,
    case
      when new.direction = 'in' and new.status = 'DETECTED' then 'deposit.detected'
      when new.direction = 'in' and new.status = 'CONFIRMED' then 'deposit.confirmed'
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
create trigger transactions_created_webhooks after insert on transactions for each row execute function enqueue_transaction_event();
create trigger transactions_updated_webhooks after update on transactions for each row
  when (new.version <> old.version) execute function enqueue_transaction_event();

create function enqueue_wallet_event() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform enqueue_webhook_event(new.client_id, 'wallet.active', new.wallet_id, jsonb_build_object(
    'wallet_id', new.wallet_id, 'client_id', new.client_id, 'wallet_name', new.wallet_name, 'description', new.description,
    'status', new.status, 'key_status', new.key_status, 'created_at', new.created_at, 'updated_at', new.updated_at));
  return null;
end $$;
create trigger wallets_webhooks after update on wallets for each row
  when (new.status = 'ACTIVE' and old.status <> 'ACTIVE') execute function enqueue_wallet_event();

create function enqueue_security_factor_event() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform enqueue_webhook_event(new.client_id, 'security_factor.changed', new.factor_id, jsonb_build_object(
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
create trigger security_factors_created_webhooks after insert on security_factors for each row execute function enqueue_security_factor_event();
create trigger security_factors_updated_webhooks after update on security_factors for each row
  when ((new.status, new.label, new.reason, new.deleted_at) is distinct from (old.status, old.label, old.reason, old.deleted_at))
  execute function enqueue_security_factor_event();
`;

/** The triggers that write webhook events, for changes of transactions, wallets and security factors. */
export class WebhookEvents0014 implements MigrationInterface {
  readonly name = 'WebhookEvents1700000000014';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('webhooks are not dropped by a migration'));
  }
}
