import type { MigrationInterface, QueryRunner } from 'typeorm';

/** `isReopened`: SQL, whether an ended transaction `t` may begin the attempt `new`. */
const guard = (isReopened: string): string => /* sql */ `
create or replace function guard_new_attempt() returns trigger language plpgsql as $$
begin
  if not exists (
    select 1 from transactions t
     where t.tx_id = new.tx_id and t.chain = new.chain and t.is_signed and t.signing_begun_at is not null and (t.ended_at is null or ${isReopened})
  ) then
    raise exception 'attempt % of % has no open transaction whose signing has begun', new.attempt, new.tx_id
      using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$`;

/**
 * A transaction that has failed in a final block which the chain has taken back: its bytes may be executed yet, and the ordinal that it has
 * reserved is unused. It stays FAILED; all that it may begin is a cancellation, which moves nothing.
 */
const isReopened = /* sql */ `
create function is_reopened(t transactions) returns boolean language sql stable as $$
  select t.status = 'FAILED' and t.is_signed and t.block_hash is not null and t.finalized_at is null
    and not exists (select from transfer_attempts a where a.tx_id = t.tx_id and a.block_hash is not null)
    and exists (select from reservations r where r.tx_id = t.tx_id and r.ordinal is not null)
$$`;

/** What has failed for good and is reorganised away all the same is cancelled, so that its nonce keeps nothing waiting. */
export class ReopenedFailures0076 implements MigrationInterface {
  readonly name = 'ReopenedFailures1700000000076';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(isReopened);
    // whoever inserts an attempt, and the follower
    await runner.query('grant execute on function is_reopened(transactions) to gateway_authoriser, gateway_worker');
    await runner.query(guard(`new.kind = 'cancellation' and is_reopened(t)`));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(guard('false'));
    await runner.query('drop function is_reopened(transactions)');
  }
}
