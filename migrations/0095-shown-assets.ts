import type { MigrationInterface, QueryRunner } from 'typeorm';
import { houseClientId } from '../src/platform/house';

const schema = /* sql */ `
-- Which ledger accounts the client sees as assets: those it has added, and native coins that hold a balance. A column, so that a page is a range
-- of an index, and a change of it is seen with the row's lock: an asset that is added while its balance changes is counted once.
alter table ledger_accounts add column is_added boolean not null default false;
update ledger_accounts set is_added = true where ledger_account_id in (select asset_id from assets);
alter table ledger_accounts add column is_shown boolean not null
  generated always as (is_added or (contract_address is null and available + locked > 0)) stored;
create index ledger_accounts_shown on ledger_accounts (client_id, ledger_account_id desc) where is_shown;

create function show_asset() returns trigger language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  update ledger_accounts set is_added = true where ledger_account_id = new.asset_id;
  return null;
end $$;
create trigger assets_shown after insert on assets for each row execute function show_asset();

-- Appended (0094): one database transaction may change the balances of many clients, in any order. The house has no lists.
create function count_asset() returns trigger language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if new.client_id <> '${houseClientId}' then
    insert into list_counts (list, subject_id, part, counted) values ('assets', new.client_id, '', case when new.is_shown then 1 else -1 end);
  end if;
  return null;
end $$;
create trigger ledger_accounts_counted after insert on ledger_accounts for each row when (new.is_shown) execute function count_asset();
create trigger ledger_accounts_recounted after update on ledger_accounts for each row
  when (new.is_shown <> old.is_shown) execute function count_asset();

-- what was shown before this migration
insert into list_counts (list, subject_id, part, change_id, counted)
select 'assets', client_id, '', 0, count(*) from ledger_accounts where is_shown and client_id <> '${houseClientId}' group by client_id;
`;

/** Which ledger accounts are shown as assets, and how many a client has. */
export class ShownAssets0095 implements MigrationInterface {
  readonly name = 'ShownAssets1700000000095';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop function count_asset() cascade;
      drop function show_asset() cascade;
      alter table ledger_accounts drop column is_shown, drop column is_added;
      delete from list_counts where list = 'assets';
    `);
  }
}
