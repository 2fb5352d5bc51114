import type { MigrationInterface, QueryRunner } from 'typeorm';
import { houseClientId } from '../src/platform/house';

const schema = /* sql */ `
insert into clients (client_id, name) values ('${houseClientId}', 'house');

-- nobody acts in its name through the API
alter table users add constraint house_has_no_users check (client_id <> '${houseClientId}');
alter table api_keys add constraint house_has_no_keys check (client_id <> '${houseClientId}');
-- its lists would hold for the settlements of every client
alter table security_factors add constraint house_has_no_factors check (client_id <> '${houseClientId}');
alter table webhook_endpoints add constraint house_has_no_webhooks check (client_id <> '${houseClientId}');

create function guard_house() returns trigger language plpgsql as $$
begin
  raise exception 'the client of the house cannot be changed' using errcode = 'integrity_constraint_violation';
end $$;
create trigger clients_house before update on clients for each row
  when (old.client_id = '${houseClientId}') execute function guard_house();

-- An operator makes the wallets and accounts of the house, the API those of every other client.
create function guard_login_of_house() returns trigger language plpgsql as $$
declare
  role text := login_role();
begin
  if role is not null and (role = 'gateway_operator') <> (new.client_id = '${houseClientId}') then
    raise exception '% may not insert into % for client %', role, tg_table_name, new.client_id using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;
create trigger wallets_house_login before insert on wallets for each row execute function guard_login_of_house();
create trigger accounts_house_login before insert on accounts for each row execute function guard_login_of_house();
`;

/** The client that owns what the gateway itself pays with, and who may give it wallets and accounts. */
export class House0021 implements MigrationInterface {
  readonly name = 'House1700000000021';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('the client that owns the keys of the house is not dropped by a migration'));
  }
}
