import type { MigrationInterface, QueryRunner } from 'typeorm';
import { toGrants } from './grants';
import { withdrawalRights } from './rights';

const schema = /* sql */ `
insert into transaction_types (transaction_type, direction, is_held, is_signed, is_of_house) values
  ('GAS_WITHDRAWAL', 'out', true, true, true);

alter table orders drop constraint orders_kind_check;
alter table orders add constraint orders_kind_check check (kind in ('transfer', 'replacement', 'reissue', 'cancellation', 'settlement',
  'typed_data', 'gas', 'withdrawal', 'consolidation', 'sweep', 'generate_key', 'bind_key', 'blacklist_page'));

-- since when a settler takes nothing new
alter table settlers add column draining_since timestamptz;
update settlers set draining_since = clock_timestamp() where status = 'DRAINING';
alter table settlers add constraint settlers_draining check ((status = 'DRAINING') = (draining_since is not null));

-- What operators want withdrawn from drained settlers; the worker makes the transaction of it, which has the same id.
create table settler_withdrawals (
  withdrawal_id uuid primary key,
  settler_id uuid not null references settlers,
  to_address text not null,
  -- in canonical form
  to_address_key text not null,
  -- atomic units of the native coin; null: everything but what the fee may cost
  amount numeric(78,0) check (amount > 0),
  operator text not null,
  requested_at timestamptz not null default clock_timestamp(),
  -- why nothing was sent
  refused text
);
create index settler_withdrawals_open on settler_withdrawals (settler_id) where refused is null;

-- Nothing that the settler signs is open, but for this one; and it is drained for long enough that nobody gives it anything new.
create function settler_is_idle(settler uuid, but_for uuid) returns boolean language sql stable as $$
  select exists (
    select from settlers s join accounts a using (account_id)
     where s.settler_id = settler and s.draining_since < clock_timestamp() - interval '10 seconds' and not exists (
       select from transactions t
        where t.chain = s.chain and t.is_signed and t.ended_at is null and t.tx_id <> but_for
          and coalesce(t.sender_address, t.from_address) = a.address))
$$;
create function withdrawal_is_open(settler uuid, but_for uuid default null) returns boolean language sql stable as $$
  select exists (
    select from settler_withdrawals w left join transactions t on t.tx_id = w.withdrawal_id
     where w.settler_id = settler and w.refused is null and t.ended_at is null and w.withdrawal_id is distinct from but_for)
$$;

grant execute on function settler_is_idle(uuid, uuid), withdrawal_is_open(uuid, uuid)
  to gateway_worker, gateway_authoriser, gateway_operator;

create function guard_withdrawal() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    perform from settlers where settler_id = new.settler_id for no key update;
    if new.refused is not null or not settler_is_idle(new.settler_id, new.withdrawal_id)
       or withdrawal_is_open(new.settler_id, new.withdrawal_id) then
      raise exception 'settler % is not drained, or something of it is open', new.settler_id using errcode = 'integrity_constraint_violation';
    end if;
    return new;
  end if;
  if old.refused is not null or to_jsonb(new) - 'refused' is distinct from to_jsonb(old) - 'refused'
     or exists (select from transactions where tx_id = new.withdrawal_id) then
    raise exception 'withdrawal % is written once', new.withdrawal_id using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
create trigger settler_withdrawals_guard before insert or update on settler_withdrawals for each row execute function guard_withdrawal();
create trigger settler_withdrawals_kept before delete or truncate on settler_withdrawals for each statement execute function refuse_change();

-- Its transaction is of the settler's account, to where the operator has said, and of no more.
create function guard_withdrawn() returns trigger language plpgsql as $$
begin
  if not exists (
    select from settler_withdrawals w join settlers s using (settler_id)
     where w.withdrawal_id = new.tx_id and w.refused is null and settler_is_idle(s.settler_id, new.tx_id)
       and (s.chain, s.account_id, w.to_address, w.to_address_key) = (new.chain, new.account_id, new.to_address, new.to_address_key)
       and new.contract_address is null and new.sender_address is null and new.amount = coalesce(w.amount, new.amount)
  ) then
    raise exception 'withdrawal % is not what an operator has asked for', new.tx_id using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
create trigger transactions_start_withdrawal before insert on transactions for each row
  when (new.transaction_type = 'GAS_WITHDRAWAL') execute function guard_withdrawn();

-- A settler takes nothing new while its coins are on their way out.
create function guard_draining() returns trigger language plpgsql as $$
begin
  new.draining_since := case when new.status = 'DRAINING' then coalesce(
    case when tg_op = 'UPDATE' then old.draining_since end, clock_timestamp()) end;
  if tg_op = 'UPDATE' and new.status = 'ACTIVE' and old.status <> 'ACTIVE' and withdrawal_is_open(new.settler_id) then
    raise exception 'a withdrawal of settler % is open', new.settler_id using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
create trigger settlers_draining before insert or update on settlers for each row execute function guard_draining();
`;

/** What leaves the house: coins of drained settlers. */
export class Withdrawals0037 implements MigrationInterface {
  readonly name = 'Withdrawals1700000000037';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [schema, ...toGrants(withdrawalRights)]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('what was withdrawn is not dropped by a migration'));
  }
}
