import type { MigrationInterface, QueryRunner } from 'typeorm';
import { databaseRoles } from '../src/platform/database-roles';
import { houseClientId } from '../src/platform/house';

const schema = /* sql */ `
-- The gateway's role of whoever is logged in, also within functions that run with the rights of the owner. Null for the owner of the
-- schema and for administrators: they are no process, and only the rules that have no exception bind them.
create function login_role() returns text language plpgsql stable set search_path = pg_catalog, public, pg_temp as $$
declare
  roles text[];
begin
  if pg_has_role(session_user, (select relowner from pg_class where oid = 'public.transactions'::regclass), 'usage') then return null; end if;
  select array_agg(rolname::text) into roles from pg_roles
   where rolname in (${databaseRoles.map((role) => `'${role}'`).join(', ')}) and pg_has_role(session_user, oid, 'usage');
  if cardinality(roles) = 1 then return roles[1]; end if;
  raise exception 'login % is not a member of exactly one role', session_user using errcode = 'insufficient_privilege';
end $$;
grant execute on function login_role() to ${databaseRoles.join(', ')};

-- What a client asks for is accepted by the API; deposits are found by the worker, which also inserts what the house sends and pays.
-- The API approves, cancels, and confirms what moves nothing; the authoriser alone begins signing; the worker does the rest.
create function guard_login_of_transaction() returns trigger language plpgsql as $$
declare
  role text := login_role();
  may boolean;
begin
  if role is null then return new; end if;
  if tg_op = 'INSERT' then
    may := case role
      when 'gateway_api' then new.is_signed and new.client_id <> '${houseClientId}'
      when 'gateway_worker' then new.direction = 'in' or new.client_id = '${houseClientId}'
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
-- their names put the one after transactions_classify, and the other before the rules on states
create trigger transactions_login_insert before insert on transactions for each row execute function guard_login_of_transaction();
create trigger transactions_by_login before update on transactions for each row
  when (new.status is distinct from old.status) execute function guard_login_of_transaction();

-- A transfer is approved once, by the change of its state and at the time of the database: limits count by it.
create function guard_login_of_approval() returns trigger language plpgsql as $$
begin
  if login_role() is null then return new; end if;
  if (old.status, new.status) <> ('AWAITING_APPROVAL', 'PENDING') then
    raise exception 'the approval of % is not changed any more', new.tx_id using errcode = 'insufficient_privilege';
  end if;
  new.approved_at := clock_timestamp();
  return new;
end $$;
create trigger transactions_approved before update on transactions for each row
  when ((new.approved_by, new.approved_at) is distinct from (old.approved_by, old.approved_at)) execute function guard_login_of_approval();

-- Why a transfer is given up is written once, and nothing but a cancellation is signed for it from then on: the worker writes no reason
-- that is not on record.
create function guard_login_of_cancellation() returns trigger language plpgsql set search_path = pg_catalog, public, pg_temp as $$
declare
  role text := login_role();
  may boolean;
begin
  if role is null then return new; end if;
  may := case
    when old.cancellation_reason is not null then false
    when role = 'gateway_authoriser' then new.cancellation_reason in ('address_blacklisted', 'node_policy', 'expired')
    when role <> 'gateway_worker' then false
    when new.cancellation_reason = 'abandoned' then exists (
      select from (select kind, attempt from operator_requests where tx_id = new.tx_id order by request_id desc limit 1) newest
       where newest.kind = 'abandon' and newest.attempt = (select max(a.attempt) from transfer_attempts a where a.tx_id = new.tx_id))
    when new.cancellation_reason = 'address_blacklisted' then exists (
      select from security_factors f
       where f.client_id = new.client_id and f.factor_type = 'BLACKLIST' and f.chain = new.chain and f.address_key = new.to_address_key
         and f.status = 'active' and f.deleted_at is null)
    else false
  end;
  if not may then
    raise exception '% may not give % up as %', role, new.tx_id, new.cancellation_reason using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;
create trigger transactions_given_up before update on transactions for each row
  when (new.cancellation_reason is distinct from old.cancellation_reason) execute function guard_login_of_cancellation();

-- Who posts what: the API holds and gives back, the authoriser holds more for a fee, the worker posts what the chain shows.
create function guard_login_of_posting() returns trigger language plpgsql as $$
declare
  role text := login_role();
begin
  if role is null then return new; end if;
  if not (new.kind = any (case role
    when 'gateway_api' then array['lock', 'unlock']
    when 'gateway_authoriser' then array['lock_more']
    when 'gateway_worker' then array['unlock', 'settle', 'refund', 'deposit', 'deposit_reversal', 'adjustment', 'gas']
    else array[]::text[]
  end)) then
    raise exception '% may not post %', role, new.kind using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;
create trigger ledger_postings_login before insert on ledger_postings for each row execute function guard_login_of_posting();

-- The authoriser releases inputs that a reissue does not use (the rules on reservations say which), the worker those of ended transactions.
create function guard_login_of_release() returns trigger language plpgsql as $$
declare
  role text := login_role();
begin
  if role is null then return new; end if;
  if role = 'gateway_worker' and not exists (select from transactions t where t.tx_id = new.tx_id and t.ended_at is not null) then
    raise exception '% may not release % of %, which has not ended', role, new.resource, new.tx_id using errcode = 'insufficient_privilege';
  end if;
  new.released_at := clock_timestamp();
  return new;
end $$;
create trigger reservations_released before update on reservations for each row
  when (new.released_at is distinct from old.released_at) execute function guard_login_of_release();

-- A wallet starts without a key. Only an operator suspends or resumes one; the worker activates it with its key.
create function guard_login_of_wallet() returns trigger language plpgsql as $$
declare
  role text := login_role();
  may boolean;
begin
  if role is null then return new; end if;
  if tg_op = 'INSERT' then may := (new.status, new.key_status) = ('PROGRESSING', 'GENERATING');
  else may := role = 'gateway_operator' or old.status = 'PROGRESSING';
  end if;
  if not may then
    raise exception '% may not make wallet % %', role, new.wallet_id, new.status using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;
create trigger wallets_login_insert before insert on wallets for each row execute function guard_login_of_wallet();
create trigger wallets_login_update before update on wallets for each row
  when (new.status is distinct from old.status) execute function guard_login_of_wallet();

-- Whoever freezes a ledger account, only an operator clears or changes the reason.
create function guard_login_of_frozen() returns trigger language plpgsql as $$
begin
  if login_role() <> 'gateway_operator' then
    raise exception 'only an operator unfreezes ledger account %', new.ledger_account_id using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;
create trigger ledger_accounts_login before update on ledger_accounts for each row
  when (old.frozen_reason is not null and new.frozen_reason is distinct from old.frozen_reason) execute function guard_login_of_frozen();
`;

/** What a column's right cannot say: which changes of state, postings and wallets each process may make. */
export class LoginRules0019 implements MigrationInterface {
  readonly name = 'LoginRules1700000000019';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('the rules of the processes are not dropped by a migration'));
  }
}
