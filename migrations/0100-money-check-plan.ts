import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- Each session plans its check once: where that was while the ledger was nearly empty, each later check read it from end to end until
-- autovacuum had counted its rows. A follower that catches up in a young database writes thousands meanwhile.
alter function check_money_of_transaction() set enable_seqscan = off;
`;

/** What the check of each posting costs does not depend on how many there are. */
export class MoneyCheckPlan0100 implements MigrationInterface {
  readonly name = 'MoneyCheckPlan1700000000100';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter function check_money_of_transaction() reset enable_seqscan');
  }
}
