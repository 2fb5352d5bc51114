import type { MigrationInterface, QueryRunner } from 'typeorm';
import { toGrants } from './grants';
import { foreignTransactionRights } from './rights';

const schema = /* sql */ `
-- Transactions in scanned blocks that an address of the gateway has signed and that are none of its attempts, by the ordinal (nonce) that
-- they have used up. Removed with their block; written for who looks for what has used up a reservation, who verifies it at the chain.
create table foreign_transactions (
  chain text not null,
  -- canonical form of the address that has signed it
  owner text not null,
  ordinal bigint not null check (ordinal >= 0),
  id text not null,
  block_number bigint not null,
  primary key (chain, owner, ordinal)
);
create index foreign_transactions_by_block on foreign_transactions (chain, block_number);
`;

/** What else than the attempts has used up nonces of the gateway's addresses. */
export class ForeignTransactions0063 implements MigrationInterface {
  readonly name = 'ForeignTransactions1700000000063';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [schema, ...toGrants(foreignTransactionRights)]) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table foreign_transactions');
  }
}
