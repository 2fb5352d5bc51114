import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- beside those without the chain, which have the order of all chains
create index transactions_by_wallet_and_chain on transactions (wallet_id, chain, tx_id desc);
-- the address of an account is one of every chain of its family
create index transactions_by_account_and_chain on transactions (account_id, chain, tx_id desc);
`;

/** Transactions of a wallet or an account on a chain where it has few, without reading its others or those of other clients there. */
export class ListsByChain0105 implements MigrationInterface {
  readonly name = 'ListsByChain1700000000105';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index transactions_by_wallet_and_chain, transactions_by_account_and_chain');
  }
}
