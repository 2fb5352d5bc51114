import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- This node's own copy of the clients' blacklists, with the version of each.
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

/** The node's copy of the clients' blacklists. */
export class Blacklist0002 implements MigrationInterface {
  readonly name = 'Blacklist1700000000002';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  down(): Promise<void> {
    return Promise.reject(new Error("a node's blacklist is not dropped by a migration"));
  }
}
