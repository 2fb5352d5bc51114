import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- Whether the transaction of a request is there: those that workers look for every second are the others, however many were made. Written by the
-- trigger of migration 0104 alone.
alter table settler_withdrawals add column is_made boolean not null default false;

-- As before, and made once, with the transaction.
create or replace function guard_withdrawal() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    perform from settlers where settler_id = new.settler_id for no key update;
    if new.refused is not null or new.is_made or (login_role() is not null and (not settler_is_idle(new.settler_id, new.withdrawal_id)
       or withdrawal_is_open(new.settler_id, new.withdrawal_id))) then
      raise exception 'settler % is not drained, or something of it is open', new.settler_id using errcode = 'integrity_constraint_violation';
    end if;
    return new;
  end if;
  if new.is_made and not old.is_made and old.refused is null and to_jsonb(new) - 'is_made' = to_jsonb(old) - 'is_made'
     and exists (select from transactions where tx_id = new.withdrawal_id) then
    return new;
  end if;
  if old.refused is not null or to_jsonb(new) - 'refused' is distinct from to_jsonb(old) - 'refused'
     or exists (select from transactions where tx_id = new.withdrawal_id) then
    raise exception 'withdrawal % is written once', new.withdrawal_id using errcode = 'integrity_constraint_violation';
  end if;
  if login_role() = 'gateway_operator' and not orders_are_compared() then
    raise exception 'withdrawal % waits until the orders of the signing nodes are compared', new.withdrawal_id using errcode = 'GW002';
  end if;
  return new;
end $$;

-- As before; the lock is that of the update which follows.
create or replace function guard_withdrawn() returns trigger language plpgsql as $$
begin
  perform from settler_withdrawals w join settlers s using (settler_id)
   where w.withdrawal_id = new.tx_id and w.refused is null
     and (login_role() is null or settler_is_idle(s.settler_id, new.tx_id))
     and (s.chain, s.account_id, w.to_address, w.to_address_key) = (new.chain, new.account_id, new.to_address, new.to_address_key)
     and new.contract_address is null and new.sender_address is null and new.amount = coalesce(w.amount, new.amount)
     for no key update of w;
  if not found then
    raise exception 'withdrawal % is not what an operator has asked for', new.tx_id using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;

create index settler_withdrawals_to_make on settler_withdrawals (requested_at) where refused is null and not is_made;
`;

/**
 * Which withdrawals from settlers are to be made, without reading those that are: the column. A worker that makes one has locked this table and then
 * locks `transactions`, and one that signs it the other way round: no migration waits for one of them with the other one locked.
 */
export class MadeWithdrawals0103 implements MigrationInterface {
  readonly name = 'MadeWithdrawals1700000000103';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('the rules of the processes are not dropped by a migration'));
  }
}
