import type { MigrationInterface, QueryRunner } from 'typeorm';
import { toGrants } from './grants';
import { bookedAttemptRights } from './rights';

const schema = /* sql */ `
-- The chain has executed this attempt beside the one whose block its transaction names, and the end of the transaction has posted both.
alter table transfer_attempts add column is_booked boolean not null default false;

-- It is noted once, of an attempt in a block, within the database transaction that ends its transaction by another one: nothing else looks for
-- what was executed beside its end. guard_transaction has set ended_at to the start of that database transaction.
create function guard_booked_attempt() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' or not new.is_booked or new.block_number is null or not exists (
    select from transactions t where t.tx_id = new.tx_id and t.ended_at = now() and t.block_hash is not null and t.tx_hash <> new.included_id) then
    raise exception 'attempt % of % is booked by the end of its transaction alone', new.attempt, new.tx_id
      using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
create trigger transfer_attempts_not_booked before insert on transfer_attempts for each row when (new.is_booked) execute function guard_booked_attempt();
create trigger transfer_attempts_booked before update on transfer_attempts for each row
  when (new.is_booked is distinct from old.is_booked) execute function guard_booked_attempt();
`;

/** Which attempts the end of a transaction has posted, of one that was executed twice. */
export class ExecutedTwice0102 implements MigrationInterface {
  readonly name = 'ExecutedTwice1700000000102';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [schema, ...toGrants(bookedAttemptRights)]) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop function guard_booked_attempt cascade');
    await runner.query('alter table transfer_attempts drop column is_booked');
  }
}
