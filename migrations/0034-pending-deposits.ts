import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- A deposit is shown as soon as its transaction waits for a block, and has none until a block holds it. It is not credited before, and
-- what was credited keeps its block. (transactions_check1 was: every deposit has a transaction and a block.)
alter table transactions
  drop constraint transactions_check1,
  add constraint deposit_has_transaction check (direction <> 'in' or tx_hash is not null),
  add constraint deposit_credited_in_block check (direction <> 'in' or block_hash is not null or status in ('DETECTED', 'ORPHANED'));
-- for the limits on their number
create index deposits_without_block on transactions (chain, created_at) where direction = 'in' and block_hash is null;
`;

/** Deposits that no block holds yet. */
export class PendingDeposits0034 implements MigrationInterface {
  readonly name = 'PendingDeposits1700000000034';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('stored deposits are not changed back by a migration'));
  }
}
