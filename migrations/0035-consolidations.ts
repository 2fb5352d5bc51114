import type { MigrationInterface, QueryRunner } from 'typeorm';
import { houseClientId } from '../src/platform/house';
import { toGrants } from './grants';
import { consolidationRights } from './rights';

const schema = /* sql */ `
insert into transaction_types (transaction_type, direction, is_held, is_signed, is_of_house) values
  ('CONSOLIDATION', 'out', true, true, null);

-- What is held moves something, or everything but the fee goes back to its account. (transactions_check5 was: it moves something.)
alter table transactions
  drop constraint transactions_check5,
  add constraint held_amount check (not is_held or amount > 0 or (amount = 0 and to_address = from_address and contract_address is null));
-- one at a time
create unique index consolidations_open on transactions (account_id, chain) where transaction_type = 'CONSOLIDATION' and ended_at is null;

-- Which outputs a transaction of type CONSOLIDATION joins.
create table consolidations (
  tx_id uuid primary key references transactions,
  -- both null: of a transaction that was rebuilt, whose first attempt says it
  max_inputs smallint check (max_inputs between 2 and 64),
  -- only smaller ones; atomic units of the native coin
  below numeric(78,0) check (below > 0),
  check ((max_inputs is null) = (below is null))
);
create function guard_consolidation() returns trigger language plpgsql as $$
begin
  if not exists (select from transactions t where t.tx_id = new.tx_id and t.transaction_type = 'CONSOLIDATION' and t.signing_begun_at is null) then
    raise exception 'consolidation % is not that of its transaction', new.tx_id using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
create trigger consolidations_guard before insert on consolidations for each row execute function guard_consolidation();
create trigger consolidations_kept before update or delete or truncate on consolidations for each statement execute function refuse_change();

create function check_consolidation_stored() returns trigger language plpgsql as $$
begin
  if new.amount <> 0 or not exists (select from consolidations where tx_id = new.tx_id) then
    raise exception 'transaction % does not say what it joins', new.tx_id using errcode = 'integrity_constraint_violation';
  end if;
  return null;
end $$;
create constraint trigger transactions_consolidate after insert on transactions
  deferrable initially deferred for each row when (new.transaction_type = 'CONSOLIDATION') execute function check_consolidation_stored();

-- as before, but for what is held and moves nothing
create or replace function check_money_of_transaction() returns trigger language plpgsql as $$
declare
  t transactions;
  holds boolean;
begin
  select * into t from transactions where tx_id = new.tx_id;
  holds := t.is_held and t.ended_at is null;
  if exists (
    select 1 from (
      select symbol, sum(held) as held, sum(outside) as outside, sum(fees) as fees from (
        select e.symbol,
               case when e.bucket = 'LOCKED' then e.amount else 0 end as held,
               case when e.bucket = 'EXTERNAL' then e.amount else 0 end as outside,
               case when e.bucket = 'FEES' then e.amount else 0 end as fees
          from ledger_postings p join ledger_entries e on e.posting_id = p.posting_id
         where p.tx_id = t.tx_id and p.kind <> 'adjustment'
        union all
        select t.token_symbol,
               case when holds then -t.amount else 0 end,
               case when t.direction = 'in' and t.status = 'CONFIRMED' then t.amount else 0 end,
               0
        union all
        select t.fee_symbol, case when holds then -t.fee_locked else 0 end, 0, case when holds then 0 else -coalesce(t.fee, 0) end
         where t.is_held
        union all
        select t.token_symbol, 0, 0, -t.amount where t.direction = 'out' and not t.is_held and not t.is_signed and t.status = 'CONFIRMED'
      ) lines group by symbol
    ) sums
    where held <> 0 or fees <> 0
       or case when t.is_held and t.amount > 0 and t.status = 'CONFIRMED' and symbol = t.token_symbol then outside <= 0 else outside <> 0 end
  ) then
    raise exception 'the postings of transaction % do not fit its state %', t.tx_id, t.status using errcode = 'integrity_constraint_violation';
  end if;
  return null;
end $$;

-- as before, and: operators consolidate; what a client asks for moves something
create or replace function guard_login_of_transaction() returns trigger language plpgsql as $$
declare
  role text := login_role();
  may boolean;
begin
  if role is null then return new; end if;
  if tg_op = 'INSERT' then
    may := case role
      when 'gateway_api' then new.is_signed and new.client_id <> '${houseClientId}' and new.transaction_type <> 'CONSOLIDATION'
        and (new.amount > 0 or not new.is_held)
      when 'gateway_worker' then new.direction = 'in' or (new.client_id = '${houseClientId}' and new.transaction_type <> 'CONSOLIDATION')
      when 'gateway_operator' then new.transaction_type = 'CONSOLIDATION'
      else false
    end;
    -- limits count by these times, and nothing has happened to it yet
    new.created_at := now();
    new.approved_by := null;
    new.approved_at := null;
    new.approval_expires_at := null;
    new.signing_begun_at := null;
    new.cancellation_reason := null;
  else
    may := case role
      when 'gateway_api' then new.status = 'CANCELLED'
        or (old.status, new.status) in (('PENDING', 'AWAITING_APPROVAL'), ('AWAITING_APPROVAL', 'PENDING'))
        or (new.status = 'CONFIRMED' and new.is_signed and not new.is_held and new.amount = 0)
      when 'gateway_authoriser' then new.status = 'SIGNING'
      when 'gateway_worker' then new.status not in ('SIGNING', 'CANCELLED')
      else false
    end;
  end if;
  if not may then
    raise exception '% may not make transaction % %', role, new.tx_id, new.status using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;

-- as before, and: operators hold the fee of what they consolidate
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
      and exists (select from transactions t where t.tx_id = new.tx_id and t.client_id = '${houseClientId}'))
    and not (role = 'gateway_operator' and new.kind = 'lock'
      and exists (select from transactions t where t.tx_id = new.tx_id and t.transaction_type = 'CONSOLIDATION')) then
    raise exception '% may not post %', role, new.kind using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;
`;

/** Transactions that join outputs of an account. */
export class Consolidations0035 implements MigrationInterface {
  readonly name = 'Consolidations1700000000035';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [schema, ...toGrants(consolidationRights)]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('what was consolidated is not dropped by a migration'));
  }
}
