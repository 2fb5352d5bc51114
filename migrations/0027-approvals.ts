import type { MigrationInterface, QueryRunner } from 'typeorm';
import { houseClientId } from '../src/platform/house';
import { toGrants } from './grants';
import { approvalRights } from './rights';

const schema = /* sql */ `
-- The approval that a payer has signed for Permit2, sent before its settlement. What it says is written before anything is sent.
create table x402_approvals (
  tx_id uuid primary key references x402_settlements,
  client_id uuid not null references clients,
  chain text not null,
  contract_address text not null,
  payer text not null,
  -- by UTC
  day date not null,
  -- as signed, and its transaction id
  raw text not null check (raw ~ '^0x([0-9a-f]{2})+$' and length(raw) <= 1026),
  tx_hash text not null,
  nonce bigint not null check (nonce >= 0),
  -- coins that the payer lacks for it; atomic units. Counts whatever becomes of it: it is a gift
  top_up numeric(78,0) not null check (top_up >= 0),
  -- before it is sent for the first time
  sent_at timestamptz,
  created_at timestamptz not null
);
-- one a day for each payer, whoever asks
create unique index x402_approvals_once_a_day on x402_approvals (chain, contract_address, payer, day);
-- what the house has given away for a client
create index x402_approvals_by_client on x402_approvals (client_id, chain, created_at);

create function guard_approval() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    if new.sent_at is not null or not exists (
      select from x402_settlements s join transactions t using (tx_id)
       where s.tx_id = new.tx_id and s.sponsoring = 'erc20_approval'
         and (t.client_id, t.chain, t.contract_address, t.from_address) = (new.client_id, new.chain, new.contract_address, new.payer)
    ) then
      raise exception 'approval % is not that of its settlement', new.tx_id using errcode = 'integrity_constraint_violation';
    end if;
    -- limits count by them
    new.created_at := clock_timestamp();
    new.day := (new.created_at at time zone 'utc')::date;
    return new;
  end if;
  if old.sent_at is not null or to_jsonb(new) - 'sent_at' is distinct from to_jsonb(old) - 'sent_at' then
    raise exception 'approval % is written once', new.tx_id using errcode = 'integrity_constraint_violation';
  end if;
  new.sent_at := clock_timestamp();
  return new;
end $$;
create trigger x402_approvals_guard before insert or update on x402_approvals for each row execute function guard_approval();
create trigger x402_approvals_kept before delete or truncate on x402_approvals for each statement execute function refuse_change();

create function check_approval_stored() returns trigger language plpgsql as $$
begin
  if not exists (select from x402_approvals where tx_id = new.tx_id) then
    raise exception 'settlement % has no approval', new.tx_id using errcode = 'integrity_constraint_violation';
  end if;
  return null;
end $$;
create constraint trigger x402_settlements_approved after insert on x402_settlements
  deferrable initially deferred for each row when (new.sponsoring = 'erc20_approval') execute function check_approval_stored();

-- Coins go to the payer of a settlement that lacks them, once and no more than it lacks.
create unique index top_ups_by_parent on transactions (parent_tx_id) where is_held and parent_tx_id is not null;
create function guard_top_up() returns trigger language plpgsql as $$
begin
  if not exists (
    select from x402_approvals a join transactions t using (tx_id)
     where a.tx_id = new.parent_tx_id and t.ended_at is null and a.sent_at is null
       and (a.chain, a.payer, a.top_up) = (new.chain, new.to_address, new.amount) and new.contract_address is null
  ) then
    raise exception 'top-up % is not what a payer lacks', new.tx_id using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
create trigger transactions_start_top_up before insert on transactions for each row
  when (new.transaction_type = 'GAS_TOPUP') execute function guard_top_up();

-- as before, and: the worker holds what the house itself sends
create or replace function guard_login_of_posting() returns trigger language plpgsql as $$
declare
  role text := login_role();
begin
  if role is null then return new; end if;
  if not (new.kind = any (case role
    when 'gateway_api' then array['lock', 'unlock']
    when 'gateway_authoriser' then array['lock_more']
    when 'gateway_worker' then array['unlock', 'settle', 'refund', 'deposit', 'deposit_reversal', 'adjustment', 'gas']
    else array[]::text[]
  end)) and not (role = 'gateway_worker' and new.kind = 'lock'
      and exists (select from transactions t where t.tx_id = new.tx_id and t.client_id = '${houseClientId}')) then
    raise exception '% may not post %', role, new.kind using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;
`;

/** Approvals that payers have signed and the gateway sends, and the coins that the house gives for them. */
export class Approvals0027 implements MigrationInterface {
  readonly name = 'Approvals1700000000027';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [schema, ...toGrants(approvalRights)]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('what was given is not dropped by a migration'));
  }
}
