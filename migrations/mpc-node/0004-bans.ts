import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- Peers that this node never signs with again by a key.
create table bans (
  key_id text not null,
  peer smallint not null check (peer between 1 and 3),
  statement text not null,
  statement_signature bytea not null,
  banned_at timestamptz not null default clock_timestamp(),
  primary key (key_id, peer)
);

-- Bans that the peers have made and told: what a restored peer takes back from here.
create table peer_bans (
  node smallint not null check (node between 1 and 3),
  key_id text not null,
  peer smallint not null check (peer between 1 and 3),
  statement text not null,
  signature bytea not null,
  received_at timestamptz not null default now(),
  primary key (node, key_id, peer)
);

-- One attempt that the operator of this node admits in spite of a ban; each of its payloads once, by a session that has begun.
create table unfreezes (
  key_id text not null,
  peer smallint not null check (peer between 1 and 3),
  tx_id text not null,
  attempt integer not null,
  used integer[] not null default '{}',
  act_id bigint not null references operator_acts,
  primary key (key_id, peer, tx_id, attempt)
);
`;

/** Which peers a node never signs with again. */
export class Bans0004 implements MigrationInterface {
  readonly name = 'Bans1700000000004';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('bans are not dropped by a migration'));
  }
}
