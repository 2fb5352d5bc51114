import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- Lists are in the order of tx_id, so that what follows a row is a range of these.
create index transactions_by_status on transactions (client_id, status, tx_id desc);
create index transactions_by_sender on transactions (client_id, from_address, tx_id desc);
create index transactions_by_recipient on transactions (client_id, to_address, tx_id desc);
create index transactions_by_creation on transactions (client_id, created_at);
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
      drop index transactions_by_status, transactions_by_sender, transactions_by_recipient, transactions_by_creation, transactions_by_hash;
    `);
  }
}
