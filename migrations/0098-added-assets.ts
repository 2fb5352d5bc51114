import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- Added by a row of assets alone (show_asset): a ledger account that said so by itself would be counted in lists, and have no asset.
create function guard_added() returns trigger language plpgsql as $$
begin
  if login_role() is not null then
    raise exception 'ledger account % has no asset yet', new.ledger_account_id using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;
create trigger ledger_accounts_added before insert on ledger_accounts for each row when (new.is_added) execute function guard_added();
`;

/** No process inserts a ledger account as one that is an asset already. */
export class AddedAssets0098 implements MigrationInterface {
  readonly name = 'AddedAssets1700000000098';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop function guard_added() cascade');
  }
}
