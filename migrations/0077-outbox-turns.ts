import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- the last turn of a client, whatever others have waiting
create index workflow_outbox_by_client on workflow_outbox (kind, client_id, turn);
`;

/** Clients take turns with the starts of transfers, as with the generation of keys. */
export class OutboxTurns0077 implements MigrationInterface {
  readonly name = 'OutboxTurns1700000000077';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index workflow_outbox_by_client');
  }
}
