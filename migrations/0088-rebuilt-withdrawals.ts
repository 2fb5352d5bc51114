import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- As before, but for the owner of the schema, who rebuilds what was ordered after a backup: its settler was drained and idle when the
-- authoriser has ordered it, whatever the backup says of the settler and whatever else of it is rebuilt at the same time.
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
  return new;
end $$;

create or replace function guard_withdrawn() returns trigger language plpgsql as $$
begin
  if not exists (
    select from settler_withdrawals w join settlers s using (settler_id)
     where w.withdrawal_id = new.tx_id and w.refused is null
       and (login_role() is null or settler_is_idle(s.settler_id, new.tx_id))
       and (s.chain, s.account_id, w.to_address, w.to_address_key) = (new.chain, new.account_id, new.to_address, new.to_address_key)
       and new.contract_address is null and new.sender_address is null and new.amount = coalesce(w.amount, new.amount)
  ) then
    raise exception 'withdrawal % is not what an operator has asked for', new.tx_id using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
`;

/** Withdrawals from settlers that are rebuilt after the database was restored. */
export class RebuiltWithdrawals0088 implements MigrationInterface {
  readonly name = 'RebuiltWithdrawals1700000000088';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('what was withdrawn is not dropped by a migration'));
  }
}
