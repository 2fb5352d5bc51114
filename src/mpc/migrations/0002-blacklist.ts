import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- whose key it is; null for keys made before this was known
alter table key_shares add column client_id text;

-- this node's own copy of the clients' blacklists, and how new it is
create table blacklist_versions (
  client_id text primary key,
  version bigint not null
);
create table blacklist (
  client_id text not null,
  chain text not null,
  address_key text not null,
  primary key (client_id, chain, address_key)
);
`;

export class Blacklist0002 implements MigrationInterface {
  readonly name = 'Blacklist1700000000002';
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }
  down(): Promise<void> {
    return Promise.reject(new Error('a node does not forget a blacklist by a migration'));
  }
}
