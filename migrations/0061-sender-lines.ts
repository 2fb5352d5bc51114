import type { MigrationInterface, QueryRunner } from 'typeorm';
import { toGrants } from './grants';
import { senderLineRights } from './rights';

/** The API counts which transfers wait behind another one of their sender. */
export class SenderLines0061 implements MigrationInterface {
  readonly name = 'SenderLines1700000000061';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of toGrants(senderLineRights)) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('revoke select on reservations from gateway_api');
  }
}
