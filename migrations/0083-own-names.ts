import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- both at once, in the order in which the gateway locks their rows: no transaction waits for one while it holds the other
lock table accounts, wallets in access exclusive mode;

-- The client's own name for what it has created, as transfers have it (0081). No part of what nodes attest.
alter table wallets add column external_id text check (external_id ~ '^[A-Za-z0-9._:-]{1,64}$');
alter table accounts add column external_id text check (external_id ~ '^[A-Za-z0-9._:-]{1,64}$');
create unique index wallets_by_external_id on wallets (client_id, external_id) where external_id is not null;
create unique index accounts_by_external_id on accounts (client_id, external_id) where external_id is not null;

create function guard_own_name() returns trigger language plpgsql as $$
begin
  raise exception 'the external id of a row of % cannot change', tg_table_name using errcode = 'integrity_constraint_violation';
end $$;
create trigger wallets_external_id before update on wallets for each row
  when (new.external_id is distinct from old.external_id) execute function guard_own_name();
create trigger accounts_external_id before update on accounts for each row
  when (new.external_id is distinct from old.external_id) execute function guard_own_name();

-- the event of a wallet has it too, whatever else the function does by now
do $$
declare
  before text := pg_get_functiondef('enqueue_wallet_event()'::regprocedure);
  after text := replace(before, '''description'', new.description,', '''description'', new.description, ''external_id'', new.external_id,');
begin
  if after = before then raise exception 'the snapshot of a wallet has no description to put the external id behind'; end if;
  execute after;
end $$;
`;

/** What clients call their wallets and accounts. */
export class OwnNames0083 implements MigrationInterface {
  readonly name = 'OwnNames1700000000083';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      do $$ begin
        execute replace(pg_get_functiondef('enqueue_wallet_event()'::regprocedure), ' ''external_id'', new.external_id,', '');
      end $$;
      alter table wallets drop column external_id cascade;
      alter table accounts drop column external_id cascade;
      drop function guard_own_name();
    `);
  }
}
