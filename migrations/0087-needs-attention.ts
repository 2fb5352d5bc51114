import type { MigrationInterface, QueryRunner } from 'typeorm';
import { toGrants } from './grants';
import { parkedSinceRights } from './rights';

const schema = /* sql */ `
-- The snapshot names what a transaction was made in place of. Where one is parked, a second event with the same snapshot is behind the other
-- one in their stream.
create or replace function enqueue_transaction_event() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  snapshot jsonb := jsonb_build_object(
    'tx_id', new.tx_id, 'wallet_id', new.wallet_id, 'client_id', new.client_id, 'chain', new.chain,
    'transaction_type', new.transaction_type, 'from_address', new.from_address, 'to_address', new.to_address,
    'token_symbol', new.token_symbol, 'decimals', new.decimals, 'amount', new.amount::text, 'status', new.status,
    'tx_hash', new.tx_hash, 'created_at', new.created_at, 'updated_at', new.updated_at, 'memo', new.memo,
    'external_id', new.external_id, 'retry_of', new.retry_of, 'fee', new.fee::text, 'fee_symbol', new.fee_symbol,
    'fee_decimals', new.fee_decimals,
    'failure_code', new.failure_code, 'failure_message', new.failure_message, 'version', new.version);
begin
  perform enqueue_webhook_event(
    new.client_id,
    case
      when new.direction = 'in' and new.status = 'DETECTED' then 'deposit.detected'
      when new.direction = 'in' and new.status = 'CONFIRMED' then 'deposit.confirmed'
      when tg_op = 'INSERT' then 'transaction.created'
      else 'transaction.updated'
    end,
    new.tx_id, snapshot);
  if new.status = 'NEEDS_ATTENTION' then
    perform enqueue_webhook_event(new.client_id, 'transaction.needs_attention', new.tx_id, snapshot);
  end if;
  return null;
end $$;
`;

/** Clients are told that a transaction waits for an operator; the worker reads since when. */
export class NeedsAttention0087 implements MigrationInterface {
  readonly name = 'NeedsAttention1700000000087';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [schema, ...toGrants(parkedSinceRights)]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('events of webhooks are not dropped by a migration'));
  }
}
