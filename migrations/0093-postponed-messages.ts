import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- few among many that wait: each round of the dispatcher asks for them
create index workflow_outbox_postponed on workflow_outbox (kind, turn, outbox_id) where is_postponed;
`;

/** Postponed messages are found without those that wait for room. */
export class PostponedMessages0093 implements MigrationInterface {
  readonly name = 'PostponedMessages1700000000093';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index workflow_outbox_postponed');
  }
}
