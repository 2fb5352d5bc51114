import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Each deposit that is credited is looked up among the orphaned ones of its place: there may be a loss to repay. */
export class OrphanedDeposits0054 implements MigrationInterface {
  readonly name = 'OrphanedDeposits1700000000054';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`create index deposits_orphaned on transactions (chain, tx_hash, position) where status = 'ORPHANED'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index deposits_orphaned');
  }
}
