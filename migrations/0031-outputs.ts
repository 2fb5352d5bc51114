import type { MigrationInterface, QueryRunner } from 'typeorm';
import { toGrants } from './grants';
import { outputRights } from './rights';

const schema = /* sql */ `
-- Outputs of the gateway's addresses on chains whose balances consist of them, as the follower has found them. What a transaction will
-- spend is a reservation; whether the chain has spent it stands here.
create table chain_outputs (
  chain text not null,
  -- as reservations name it
  resource text not null,
  -- canonical form of the address that it belongs to
  owner text not null,
  -- atomic units of the native coin
  amount numeric(78,0) not null check (amount > 0),
  -- the block that holds it
  block_number bigint not null,
  -- the first block at whose height the gateway spends it
  spendable_from bigint not null,
  -- id of the transaction that has spent it, and its block
  spent_by text,
  spent_block bigint,
  primary key (chain, resource),
  check ((spent_by is null) = (spent_block is null)),
  check (spent_block >= block_number and spendable_from >= block_number)
);
create index chain_outputs_unspent on chain_outputs (chain, owner, amount desc) where spent_by is null;
create index chain_outputs_by_block on chain_outputs (chain, block_number);
create index chain_outputs_by_spending on chain_outputs (chain, spent_block) where spent_by is not null;
`;

/** What the gateway's addresses own on chains of outputs. */
export class Outputs0031 implements MigrationInterface {
  readonly name = 'Outputs1700000000031';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [schema, ...toGrants(outputRights)]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('outputs are not dropped by a migration'));
  }
}
