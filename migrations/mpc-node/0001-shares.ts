import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- The node that this database belongs to: a node with another index or key-encryption key refuses to start.
create table node_identity (
  singleton boolean primary key default true check (singleton),
  node_index smallint not null check (node_index between 1 and 3),
  kek_fingerprint text not null,
  created_at timestamptz not null default now()
);

create table key_shares (
  key_id text primary key check (length(key_id) between 1 and 100),
  -- the client that owns the key; null: not known before the key is bound
  client_id text,
  -- the wallet that the key is bound to; null: it signs nothing but test signatures. Both are then bound into the ciphertext
  wallet_id text,
  -- of the unbound key; each could tell a dishonest peer a little about the share
  test_signatures smallint not null default 0 check (test_signatures between 0 and 8),
  protocol text not null,
  public_key bytea not null check (length(public_key) = 33),
  chain_code bytea not null check (length(chain_code) = 32),
  ciphertext bytea not null,
  iv bytea not null check (length(iv) = 12),
  tag bytea not null check (length(tag) = 16),
  kek_fingerprint text not null,
  created_at timestamptz not null default now(),
  -- when the key was bound to its wallet
  bound_at timestamptz,
  check (wallet_id is null or client_id is not null)
);
`;

/** The identity of a signing node, and its key shares. */
export class Shares0001 implements MigrationInterface {
  readonly name = 'Shares1700000000001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('key shares are not dropped by a migration'));
  }
}
