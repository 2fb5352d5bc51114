import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a simulation refuses has a code of its own, and only the chain gives it, like that of an executed failure. */
export class WouldRevert0045 implements MigrationInterface {
  readonly name = 'WouldRevert1700000000045';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `alter table refusals add constraint refusals_would_revert check (kind = 'chain' or code <> 'would_revert')`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table refusals drop constraint refusals_would_revert');
  }
}
