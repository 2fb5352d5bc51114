import type { MigrationInterface, QueryRunner } from 'typeorm';
import { toGrants } from './grants';
import { webhookReadingRights } from './rights';

/** Operators see what a client was told of a transaction, and what its server has answered; not the text of an answer. */
export class OperatorsSeeWebhooks0084 implements MigrationInterface {
  readonly name = 'OperatorsSeeWebhooks1700000000084';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of toGrants(webhookReadingRights)) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('revoke all on webhook_events, webhook_deliveries, webhook_attempts from gateway_operator');
  }
}
