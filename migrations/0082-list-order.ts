import type { MigrationInterface, QueryRunner } from 'typeorm';

const names = ['by_client', 'by_wallet', 'by_account', 'by_client_and_chain'];

/**
 * The indexes of lists in the order of (created_at, tx_id) get the names of those that have tx_id alone. By itself: it excludes every reader for a
 * moment, and asks for that before it holds anything that a writer could wait for.
 */
export class ListOrder0082 implements MigrationInterface {
  readonly name = 'ListOrder1700000000082';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`drop index ${names.map((name) => `transactions_${name}`).join(', ')}`);
    for (const name of names) await runner.query(`alter index ${name} rename to transactions_${name}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const name of names) await runner.query(`alter index transactions_${name} rename to ${name}`);
    await runner.query(`
      create index transactions_by_client on transactions (client_id, tx_id desc);
      create index transactions_by_wallet on transactions (wallet_id, tx_id desc);
      create index transactions_by_account on transactions (account_id, tx_id desc);
      create index transactions_by_client_and_chain on transactions (client_id, chain, tx_id desc);
    `);
  }
}
