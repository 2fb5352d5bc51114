import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- As before, but for the owner of the schema, who rebuilds what was ordered after a backup: its settlement may have ended, or be lost.
create or replace function guard_top_up() returns trigger language plpgsql as $$
declare
  is_rebuilt boolean := login_role() is null;
begin
  if new.contract_address is not null or not ((is_rebuilt and new.parent_tx_id is null) or exists (
    select from x402_approvals a join transactions t using (tx_id)
     where a.tx_id = new.parent_tx_id and (is_rebuilt or (t.ended_at is null and a.sent_at is null))
       and (a.chain, a.payer, a.top_up) = (new.chain, new.to_address, new.amount)
  )) then
    raise exception 'top-up % is not what a payer lacks', new.tx_id using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
`;

/** Coins for payers that are rebuilt after the database was restored. */
export class RebuiltTopUps0089 implements MigrationInterface {
  readonly name = 'RebuiltTopUps1700000000089';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('what was given is not dropped by a migration'));
  }
}
