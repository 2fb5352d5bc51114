import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Statements name the block of a spend alone: an index for rows with `spent_by` is not used for them, and they read the whole table. */
export class OutputsBySpending0059 implements MigrationInterface {
  readonly name = 'OutputsBySpending1700000000059';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`drop index chain_outputs_by_spending`);
    await runner.query(
      `create index chain_outputs_by_spending on chain_outputs (chain, spent_block) where spent_block is not null`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop index chain_outputs_by_spending`);
    await runner.query(`create index chain_outputs_by_spending on chain_outputs (chain, spent_block) where spent_by is not null`);
  }
}
