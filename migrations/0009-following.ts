import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- How far each chain was followed, and its current fees.
create table chain_cursors (
  chain text primary key,
  -- CAIP-2: a database has followed one chain of that name only
  caip2 text not null,
  -- the next block to scan
  next_block bigint not null,
  head_block bigint not null,
  -- in the chain family's own form
  fee_levels jsonb not null,
  fee_levels_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- Scanned blocks, kept down to finality depth; a chain may skip numbers. A reorg shows as a hash that differs from the one stored here.
create table chain_blocks (
  chain text not null,
  number bigint not null,
  hash text not null,
  parent_hash text not null,
  primary key (chain, number)
);
`;

/** How far the chains were followed. */
export class Following0009 implements MigrationInterface {
  readonly name = 'Following1700000000009';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('the followed blocks are not dropped by a migration'));
  }
}
