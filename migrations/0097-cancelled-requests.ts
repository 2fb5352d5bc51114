import type { MigrationInterface, QueryRunner } from 'typeorm';
import { toGrants } from './grants';
import { cancelledRequestRights } from './rights';

const schema = /* sql */ `
-- As before; and operators take back what they have asked for and no worker has made. In a database that was restored it may have been made since
-- the backup: then the settler would be free for another one.
create or replace function guard_withdrawal() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    perform from settlers where settler_id = new.settler_id for no key update;
    if new.refused is not null or (login_role() is not null and (not settler_is_idle(new.settler_id, new.withdrawal_id)
       or withdrawal_is_open(new.settler_id, new.withdrawal_id))) then
      raise exception 'settler % is not drained, or something of it is open', new.settler_id using errcode = 'integrity_constraint_violation';
    end if;
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

-- As before, and nobody takes the request back until the transaction is there: the one waits for the other.
create or replace function guard_withdrawn() returns trigger language plpgsql as $$
begin
  perform from settler_withdrawals w join settlers s using (settler_id)
   where w.withdrawal_id = new.tx_id and w.refused is null
     and (login_role() is null or settler_is_idle(s.settler_id, new.tx_id))
     and (s.chain, s.account_id, w.to_address, w.to_address_key) = (new.chain, new.account_id, new.to_address, new.to_address_key)
     and new.contract_address is null and new.sender_address is null and new.amount = coalesce(w.amount, new.amount)
     for share of w;
  if not found then
    raise exception 'withdrawal % is not what an operator has asked for', new.tx_id using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;

-- What the database has as asked for when it is opened anew may have been taken back, or done, after the backup that it comes from.
create function refuse_older_withdrawals() returns trigger language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  update settler_withdrawals w
     set refused = 'the database was started or restored after this was asked for: look at what the settler has, and ask anew'
   where refused is null and not exists (select from transactions t where t.tx_id = w.withdrawal_id);
  return null;
end $$;
create trigger order_comparison_older_withdrawals after update of compared_as on order_comparison for each row
  when (old.compared_as is distinct from new.compared_as and new.compared_as = database_incarnation()) execute function refuse_older_withdrawals();
`;

/**
 * Withdrawals from settlers that are asked for and not made yet are cancelled by operators too, and refused when the database is compared with
 * the signing nodes for the first time after its start or restore.
 */
export class CancelledRequests0097 implements MigrationInterface {
  readonly name = 'CancelledRequests1700000000097';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [schema, ...toGrants(cancelledRequestRights)]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('the rules of the processes are not dropped by a migration'));
  }
}
