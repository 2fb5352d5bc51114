import type { MigrationInterface, QueryRunner } from 'typeorm';
import { toGrants } from './grants';
import { bookedAttemptRights } from './rights';

const schema = /* sql */ `
-- The chain has executed this attempt beside the one whose block its transaction names, and the end of the transaction has posted both.
alter table transfer_attempts add column is_booked boolean not null default false;
`;

/** Which attempts the end of a transaction has posted, of one that was executed twice. */
export class ExecutedTwice0102 implements MigrationInterface {
  readonly name = 'ExecutedTwice1700000000102';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [schema, ...toGrants(bookedAttemptRights)]) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table transfer_attempts drop column is_booked');
  }
}
