import type { MigrationInterface, QueryRunner } from 'typeorm';
import { auditTables } from './0002-audit';
import { mfaTables } from './0002-mfa';
import { screeningRules, screeningTables } from './0002-screening';

/** Audit log, second factors, security factors and policies, webhooks, rate limits. */
export class Security0002 implements MigrationInterface {
  readonly name = 'Security1700000000002';

  async up(runner: QueryRunner): Promise<void> {
    for (const part of [auditTables, mfaTables, screeningTables, screeningRules]) await runner.query(part);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('the security tables are not dropped: restore a backup instead'));
  }
}
