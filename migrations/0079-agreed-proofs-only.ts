import type { MigrationInterface, QueryRunner } from 'typeorm';
import { databaseRoles } from '../src/platform/database-roles';

/** The functions that ask whether an attempt is proven impossible. `isProven`: SQL about the attempt `a`. */
const checks = (isProven: string): string => /* sql */ `
create or replace function all_attempts_impossible(tx uuid) returns boolean language sql stable as $$
  select coalesce(bool_and(${isProven} and a.block_hash is null), false) from transfer_attempts a where a.tx_id = tx
$$;

create or replace function guard_reservation() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    raise exception 'reservations are kept' using errcode = 'integrity_constraint_violation';
  end if;
  if (new.reservation_id, new.chain, new.owner, new.resource, new.ordinal, new.tx_id, new.reserved_at)
       is distinct from (old.reservation_id, old.chain, old.owner, old.resource, old.ordinal, old.tx_id, old.reserved_at)
     or old.released_at is not null or old.ordinal is not null then
    raise exception 'reservation % of % is written once', old.resource, old.owner using errcode = 'integrity_constraint_violation';
  end if;
  if exists (
    select 1 from attempt_reservations r join transfer_attempts a on a.tx_id = r.tx_id and a.attempt = r.attempt
      join transactions t on t.tx_id = r.tx_id
     where r.reservation_id = old.reservation_id
       and (a.block_hash is not null or (not ${isProven} and t.finalized_at is null))
  ) then
    raise exception 'reservation % of % may still be used', old.resource, old.owner using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;

create or replace function check_attempts_exclusive() returns trigger language plpgsql as $$
begin
  if exists (
    select 1 from transfer_attempts a
     where a.tx_id = new.tx_id and a.attempt < new.attempt and (not ${isProven} or a.block_hash is not null) and not exists (
       select 1 from attempt_reservations r join attempt_reservations n on n.tx_id = r.tx_id and n.reservation_id = r.reservation_id
        where r.tx_id = a.tx_id and r.attempt = a.attempt and n.attempt = new.attempt)
  ) then
    raise exception 'attempt % of % could be executed beside an earlier one', new.attempt, new.tx_id
      using errcode = 'integrity_constraint_violation';
  end if;
  return null;
end $$`;

/**
 * Where several endpoints of a chain are compared, the follower has noted how far they agree (`agreed_to`), and a proof counts once all of them
 * have shown it.
 */
const isProvenImpossible = /* sql */ `
create function is_proven_impossible(a transfer_attempts) returns boolean language sql stable as $$
  select a.impossible_proof is not null and (a.impossible_proof ? 'agreed_by'
    or not exists (select from chain_cursors c where c.chain = a.chain and c.agreed_to is not null))
$$`;

/** The word of one endpoint frees nothing in the database either: what the code asks before it ends a transfer, the constraints ask too. */
export class AgreedProofsOnly0079 implements MigrationInterface {
  readonly name = 'AgreedProofsOnly1700000000079';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(isProvenImpossible);
    // the constraints run with the rights of whoever ends or begins something
    await runner.query(`grant execute on function is_proven_impossible(transfer_attempts) to ${databaseRoles.join(', ')}`);
    await runner.query(checks('is_proven_impossible(a)'));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(checks('(a.impossible_proof is not null)'));
    await runner.query('drop function is_proven_impossible(transfer_attempts)');
  }
}
