import type { MigrationInterface, QueryRunner } from 'typeorm';
import { ledgerRules } from './0001-rules-ledger';
import { transactionRules } from './0001-rules-transactions';
import { tables } from './0001-tables';

/** The first schema, with the rules that hold whatever the code does: see ARCHITECTURE.md. */
export class Schema0001 implements MigrationInterface {
  readonly name = 'Schema1700000000001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(tables);
    await runner.query(ledgerRules);
    await runner.query(transactionRules);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema public cascade; create schema public');
  }
}
