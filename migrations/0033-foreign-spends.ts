import type { MigrationInterface, QueryRunner } from 'typeorm';
import { toGrants } from './grants';
import { foreignSpendRights } from './rights';

const schema = /* sql */ `
-- id of the transaction that has made it
alter table chain_outputs add column made_by text;
create index chain_outputs_by_maker on chain_outputs (chain, made_by);

-- Transactions in blocks that have spent outputs of the gateway's addresses and are none of its attempts. What they have taken is posted as
-- an adjustment, so that the balance is that of the chain, and the ledger account is frozen. Removed with its block, and when an attempt of
-- a transfer that was rebuilt explains it.
create table foreign_spends (
  chain text not null,
  transaction text not null,
  -- canonical form of the address
  owner text not null,
  -- what it has taken, less what it has returned to the address; atomic units of the native coin
  amount numeric(78,0) not null,
  block_number bigint not null,
  -- a transaction of the account, to which the adjustments belong; null: nothing is posted
  tx_id uuid references transactions,
  primary key (chain, transaction, owner)
);
`;

/** What somebody else has spent of the gateway's outputs. */
export class ForeignSpends0033 implements MigrationInterface {
  readonly name = 'ForeignSpends1700000000033';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [schema, ...toGrants(foreignSpendRights)]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('what was posted is not dropped by a migration'));
  }
}
