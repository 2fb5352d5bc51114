import type { MigrationInterface, QueryRunner } from 'typeorm';
import { houseClientId } from '../src/platform/house';
import { toGrants } from './grants';
import { x402Rights } from './rights';

const schema = /* sql */ `
-- What the house pays for a client; without a row: nothing. Amounts are atomic units of the chain's native coin in 24 hours.
create table x402_policies (
  client_id uuid not null references clients check (client_id <> '${houseClientId}'),
  chain text not null,
  is_enabled boolean not null,
  -- fees of settlements; null: no limit
  gas_per_day numeric(78,0) check (gas_per_day >= 0),
  -- fees also of what lets a payer's tokens move: a permit that the payer has signed, or an approval that the payer sends
  sponsors_permit boolean not null,
  sponsors_approval boolean not null,
  -- coins sent to payers for their approvals
  top_up_per_day numeric(78,0) not null check (top_up_per_day >= 0),
  primary key (client_id, chain)
);

-- What a transaction of type X402_SETTLE settles, beside what its row says.
create table x402_settlements (
  tx_id uuid primary key references transactions,
  client_id uuid not null references clients,
  chain text not null,
  scheme text not null check (scheme in ('exact', 'upto')),
  payload_type text not null check (payload_type in ('eip3009', 'permit2')),
  -- one payment has one settlement
  phase text not null default 'settle' check (phase in ('settle')),
  -- canonical form of what the authorisation uses up: of eip3009 token, payer and nonce, of permit2 payer and nonce
  identity text not null check (length(identity) between 1 and 300),
  -- SHA-256 of what was asked for
  request_hash bytea not null check (length(request_hash) = 32),
  -- what the caller names the payment by
  payment_id text check (payment_id ~ '^[A-Za-z0-9_-]{16,128}$'),
  version smallint not null check (version in (1, 2)),
  -- most that the payer has signed, and what is taken of it; atomic units of the token
  authorised numeric(78,0) not null check (authorised > 0),
  amount numeric(78,0) not null check (amount between 0 and authorised),
  -- seconds since the epoch; a later end is stored as the end of the year 9999
  valid_after bigint not null check (valid_after >= 0),
  window_end bigint not null check (window_end > valid_after and window_end <= 253402300799),
  -- the action of the transaction's intent
  action jsonb not null,
  sponsoring text not null default 'none' check (sponsoring in ('none', 'eip2612', 'erc20_approval')),
  -- highest fee, atomic units of the native coin: counts until the fee is known
  gas_bound numeric(78,0) not null check (gas_bound >= 0),
  -- ended before anything was signed: the same payment may be settled by another transaction
  released_at timestamptz,
  created_at timestamptz not null default clock_timestamp()
);
-- the scheme is no part of it: a chain executes an authorisation once, whatever the scheme
create unique index x402_settlements_once on x402_settlements (chain, payload_type, phase, identity) where released_at is null;
-- what the house has paid for a client
create index x402_settlements_by_client on x402_settlements (client_id, chain, created_at);
create unique index x402_settlements_by_payment_id on x402_settlements (client_id, payment_id)
  where payment_id is not null and released_at is null;

create function guard_settlement() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    if new.released_at is not null or not exists (
      select from transactions t
       where t.tx_id = new.tx_id and t.transaction_type = 'X402_SETTLE'
         and (t.client_id, t.chain, t.amount, t.from_address) = (new.client_id, new.chain, new.amount, new.action ->> 'payer')
    ) then
      raise exception 'settlement % is not that of its transaction', new.tx_id using errcode = 'integrity_constraint_violation';
    end if;
    -- limits count by it
    new.created_at := clock_timestamp();
    return new;
  end if;
  if to_jsonb(new) - 'released_at' is distinct from to_jsonb(old) - 'released_at' then
    raise exception 'what settlement % pays cannot change', new.tx_id using errcode = 'integrity_constraint_violation';
  end if;
  if new.released_at is distinct from old.released_at then
    if old.released_at is not null or not exists (
      select from transactions t
       where t.tx_id = new.tx_id and t.status in ('CANCELLED', 'REJECTED', 'FAILED') and t.signing_begun_at is null
    ) then
      raise exception 'settlement % keeps its payment', new.tx_id using errcode = 'integrity_constraint_violation';
    end if;
    new.released_at := clock_timestamp();
  end if;
  return new;
end $$;
create trigger x402_settlements_guard before insert or update on x402_settlements for each row execute function guard_settlement();
create trigger x402_settlements_kept before delete or truncate on x402_settlements for each statement execute function refuse_change();

-- What has ended before anything of it was signed keeps no payment. With the rights of the owner: no process releases by itself.
create function release_settlement() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  update x402_settlements set released_at = clock_timestamp() where tx_id = new.tx_id and released_at is null;
  return null;
end $$;
create trigger transactions_release_settlement after update on transactions for each row
  when (new.transaction_type = 'X402_SETTLE' and new.status in ('CANCELLED', 'REJECTED', 'FAILED') and old.ended_at is null
    and new.signing_begun_at is null)
  execute function release_settlement();

-- Whatever the row of a settlement says, no account but a settler of its chain sends it.
create function guard_settled_by() returns trigger language plpgsql as $$
begin
  if not exists (
    select from settlers s join accounts a on a.account_id = s.account_id
     where s.chain = new.chain and a.address = new.sender_address
  ) then
    raise exception 'settlement % is not sent by a settler of %', new.tx_id, new.chain using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
create trigger transactions_start_settlement before insert on transactions for each row
  when (new.transaction_type = 'X402_SETTLE') execute function guard_settled_by();

create function check_settlement_stored() returns trigger language plpgsql as $$
begin
  if not exists (select from x402_settlements where tx_id = new.tx_id) then
    raise exception 'transaction % does not say what it settles', new.tx_id using errcode = 'integrity_constraint_violation';
  end if;
  return null;
end $$;
create constraint trigger transactions_settle after insert on transactions
  deferrable initially deferred for each row when (new.transaction_type = 'X402_SETTLE') execute function check_settlement_stored();
`;

/** What x402 payments the gateway settles, and what the house pays for its clients when it does. */
export class X4020023 implements MigrationInterface {
  readonly name = 'X4021700000000023';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [schema, ...toGrants(x402Rights)]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('what was settled is not dropped by a migration'));
  }
}
