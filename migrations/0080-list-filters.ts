import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- Lists are in the order of (created_at, tx_id), neither of which changes: periods and cursors are ranges of every index. The next migration
-- puts the first four in the place of those that have tx_id alone.
create index by_client on transactions (client_id, created_at desc, tx_id desc);
create index by_wallet on transactions (wallet_id, created_at desc, tx_id desc);
create index by_account on transactions (account_id, created_at desc, tx_id desc);
create index by_client_and_chain on transactions (client_id, chain, created_at desc, tx_id desc);
create index transactions_by_status on transactions (client_id, status, created_at desc, tx_id desc);
create index transactions_by_sender on transactions (client_id, from_address, created_at desc, tx_id desc);
create index transactions_by_recipient on transactions (client_id, to_address, created_at desc, tx_id desc);
create index transactions_by_hash on transactions (client_id, tx_hash) where tx_hash is not null;
`;

/** Filters of the list of transactions. */
export class ListFilters0080 implements MigrationInterface {
  readonly name = 'ListFilters1700000000080';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop index by_client, by_wallet, by_account, by_client_and_chain,
        transactions_by_status, transactions_by_sender, transactions_by_recipient, transactions_by_hash;
    `);
  }
}
