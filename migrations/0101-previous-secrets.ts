import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
create index webhook_endpoints_previous_secrets on webhook_endpoints (previous_secret_until) where previous_secret_until is not null;
`;

/** Which endpoints have a previous secret, without reading the others: it is asked every minute. */
export class PreviousSecrets0101 implements MigrationInterface {
  readonly name = 'PreviousSecrets1700000000101';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index webhook_endpoints_previous_secrets');
  }
}
