import type { MigrationInterface, QueryRunner } from 'typeorm';
import { auditTables } from './0002-audit';
import { limitTables } from './0002-limits';
import { mfaTables } from './0002-mfa';
import { screeningRules, screeningTables } from './0002-screening';
import { webhookTables } from './0002-webhooks';

/** Audit log, second factors, security factors and policies, webhooks, rate limits. */
export class Security0002 implements MigrationInterface {
  readonly name = 'Security1700000000002';

  async up(runner: QueryRunner): Promise<void> {
    const parts = [auditTables, mfaTables, screeningTables, screeningRules, limitTables, webhookTables];
    for (const part of parts) await runner.query(part);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('the security tables are not dropped: restore a backup instead'));
  }
}
