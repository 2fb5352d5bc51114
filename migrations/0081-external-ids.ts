import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- The client's own name for what it has requested. No part of what is ordered or signed.
alter table transactions add column external_id text check (external_id ~ '^[A-Za-z0-9._:-]{1,64}$');
create unique index transactions_by_external_id on transactions (client_id, external_id) where external_id is not null;

create function guard_external_id() returns trigger language plpgsql as $$
begin
  raise exception 'the external id of transaction % cannot change', new.tx_id using errcode = 'integrity_constraint_violation';
end $$;
create trigger transactions_external_id before update on transactions for each row
  when (new.external_id is distinct from old.external_id) execute function guard_external_id();

-- events have it too, whatever else the function does by now
do $$
declare
  before text := pg_get_functiondef('enqueue_transaction_event()'::regprocedure);
  after text := replace(before, '''memo'', new.memo,', '''memo'', new.memo, ''external_id'', new.external_id,');
begin
  if after = before then raise exception 'the snapshot of a transaction has no memo to put the external id behind'; end if;
  execute after;
end $$;
`;

/** What clients call their transfers. */
export class ExternalIds0081 implements MigrationInterface {
  readonly name = 'ExternalIds1700000000081';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      do $$ begin
        execute replace(pg_get_functiondef('enqueue_transaction_event()'::regprocedure), ' ''external_id'', new.external_id,', '');
      end $$;
      alter table transactions drop column external_id cascade;
      drop function guard_external_id();
    `);
  }
}
