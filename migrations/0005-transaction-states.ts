import type { MigrationInterface, QueryRunner } from 'typeorm';
import { houseClientId } from '../src/platform/house';

const schema = /* sql */ `
-- A new transaction is in its first state, is of a type that its client may have, and names an asset of its own account.
create function guard_new_transaction() returns trigger language plpgsql as $$
begin
  if new.version <> 0 or new.signing_begun_at is not null or new.ended_at is not null or new.finalized_at is not null or new.fee is not null
     or new.status <> (case when new.direction = 'in' then 'DETECTED' else 'PENDING' end) then
    raise exception 'transaction % does not start at its beginning', new.tx_id using errcode = 'integrity_constraint_violation';
  end if;
  if (select is_of_house from transaction_types where transaction_type = new.transaction_type) <> (new.client_id = '${houseClientId}') then
    raise exception 'a transaction of type % does not belong to client %', new.transaction_type, new.client_id
      using errcode = 'integrity_constraint_violation';
  end if;
  if new.account_id is not null and not exists (
    select 1 from accounts a join ledger_accounts l on l.account_id = a.account_id
     where a.account_id = new.account_id and a.wallet_id = new.wallet_id and a.client_id = new.client_id
       and l.ledger_account_id = new.asset_id and l.chain = new.chain and l.symbol = new.token_symbol
  ) then
    raise exception 'transaction % names an asset that its account does not hold', new.tx_id using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
create trigger transactions_start before insert on transactions for each row execute function guard_new_transaction();

-- State changes: which state may follow which; ended states are final, except that a confirmed deposit can be orphaned by a reorg.
-- Every change increments the version by one. What the transaction moves never changes.
create function guard_transaction() returns trigger language plpgsql as $$
declare
  allowed text[];
begin
  if new.status is not distinct from old.status then
    if new.version <> old.version then
      raise exception 'version of % changes with its status only', new.tx_id using errcode = 'integrity_constraint_violation';
    end if;
  else
    allowed := case old.status
      when 'PENDING' then array['AWAITING_APPROVAL', 'SIGNING', 'REJECTED', 'FAILED', 'CANCELLED', 'NEEDS_ATTENTION']
        -- nothing of it is sent to a chain
        || case when old.direction = 'out' and not old.is_held and (not old.is_signed or old.amount = 0) then array['CONFIRMED'] else array[]::text[] end
      when 'AWAITING_APPROVAL' then array['PENDING', 'REJECTED', 'CANCELLED']
      when 'SIGNING' then array['SUBMITTED', 'NEEDS_ATTENTION', 'CONFIRMED', 'FAILED']
      when 'SUBMITTED' then array['CONFIRMED', 'FAILED', 'NEEDS_ATTENTION']
      when 'NEEDS_ATTENTION' then array['PENDING', 'SIGNING', 'SUBMITTED', 'CONFIRMED', 'REJECTED', 'FAILED', 'CANCELLED']
      when 'DETECTED' then array['CONFIRMED', 'ORPHANED']
      when 'CONFIRMED' then case when old.direction = 'in' then array['ORPHANED'] else array[]::text[] end
      else array[]::text[]
    end;
    if not (new.status = any (allowed)) then
      raise exception 'transaction % cannot go from % to %', new.tx_id, old.status, new.status using errcode = 'integrity_constraint_violation';
    end if;
    if new.version <> old.version + 1 then
      raise exception 'a state change of % must count its version up by one', new.tx_id using errcode = 'integrity_constraint_violation';
    end if;
    -- Once signing has begun, signed bytes may exist that the chain can still execute. Such a transaction must not release its funds:
    -- it ends only with an on-chain result, or when every attempt was proven impossible (below).
    if old.is_signed and new.status in ('REJECTED', 'CANCELLED') and old.signing_begun_at is not null then
      raise exception 'transaction % has begun signing and cannot end unexecuted', new.tx_id using errcode = 'integrity_constraint_violation';
    end if;
    -- ended_at is set here and nowhere else
    new.ended_at := case when new.status in ('CONFIRMED', 'REJECTED', 'FAILED', 'CANCELLED', 'ORPHANED') then now() end;
  end if;
  if new.status is not distinct from old.status and new.ended_at is distinct from old.ended_at then
    raise exception 'the end of transaction % is set by its state', new.tx_id using errcode = 'integrity_constraint_violation';
  end if;
  if new.is_signed and new.signing_begun_at is not null and new.status in ('CONFIRMED', 'FAILED')
     and (new.status, new.tx_hash, new.block_number, new.block_hash) is distinct from (old.status, old.tx_hash, old.block_number, old.block_hash)
     and not chain_shows_end(new) then
    raise exception 'transaction % cannot end as % without an on-chain result or a proof for every attempt', new.tx_id, new.status
      using errcode = 'integrity_constraint_violation';
  end if;
  if old.ended_at is not null and (new.fee, new.fee_locked) is distinct from (old.fee, old.fee_locked) then
    raise exception 'transaction % has ended, its fee is posted', new.tx_id using errcode = 'integrity_constraint_violation';
  end if;
  if (new.client_id, new.wallet_id, new.account_id, new.asset_id, new.chain, new.transaction_type, new.direction, new.is_held, new.is_signed,
      new.from_address, new.sender_address, new.to_address, new.token_symbol, new.contract_address, new.decimals, new.amount, new.fee_symbol, new.fee_decimals, new.idempotency_key, new.requested_by,
      new.position, new.parent_tx_id, new.created_at)
     is distinct from
     (old.client_id, old.wallet_id, old.account_id, old.asset_id, old.chain, old.transaction_type, old.direction, old.is_held, old.is_signed,
      old.from_address, old.sender_address, old.to_address, old.token_symbol, old.contract_address, old.decimals, old.amount, old.fee_symbol, old.fee_decimals, old.idempotency_key, old.requested_by,
      old.position, old.parent_tx_id, old.created_at) then
    raise exception 'what transaction % moves cannot change', new.tx_id using errcode = 'integrity_constraint_violation';
  end if;
  if old.signing_begun_at is not null and new.signing_begun_at is distinct from old.signing_begun_at then
    raise exception 'signing of % cannot be undone', new.tx_id using errcode = 'integrity_constraint_violation';
  end if;
  new.updated_at := now();
  return new;
end $$;
create trigger transactions_guard before update on transactions for each row execute function guard_transaction();

-- Every new version leaves a row in transaction_events.
create function write_event() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if tg_op = 'INSERT' or new.version <> old.version then
    insert into transaction_events (tx_id, seq, status) values (new.tx_id, new.version, new.status);
  end if;
  return null;
end $$;
create trigger transactions_event after insert or update on transactions for each row execute function write_event();
`;

/** The states of a transaction: how it starts, which state may follow which, and what never changes. */
export class TransactionStates0005 implements MigrationInterface {
  readonly name = 'TransactionStates1700000000005';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('the rules of transactions are not dropped by a migration'));
  }
}
