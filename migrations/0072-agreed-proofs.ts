import type { MigrationInterface, QueryRunner } from 'typeorm';

/** `isFinal`: SQL, whether the proof that an attempt has is never replaced. */
const guard = (isFinal: string): string => /* sql */ `
create or replace function guard_attempt() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    raise exception 'attempts are kept' using errcode = 'integrity_constraint_violation';
  end if;
  if (new.tx_id, new.attempt, new.kind, new.chain, new.prepared, new.unsigned, new.signers, new.message_key, new.fee_bound, new.expiry)
       is distinct from
       (old.tx_id, old.attempt, old.kind, old.chain, old.prepared, old.unsigned, old.signers, old.message_key, old.fee_bound, old.expiry)
     or (old.signed is not null and (new.signed, new.tx_hash) is distinct from (old.signed, old.tx_hash))
     or (old.impossible_proof is not null and new.impossible_proof is distinct from old.impossible_proof and ${isFinal}) then
    raise exception 'attempt % of % is written once', old.attempt, old.tx_id using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$`;

/** A proof of one endpoint gives way, once, to one that every configured endpoint has shown. */
export class AgreedProofs0072 implements MigrationInterface {
  readonly name = 'AgreedProofs1700000000072';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(guard(`(old.impossible_proof ? 'agreed_by' or not coalesce(new.impossible_proof ? 'agreed_by', false))`));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(guard('true'));
  }
}
