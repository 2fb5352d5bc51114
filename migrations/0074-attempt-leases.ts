import type { MigrationInterface, QueryRunner } from 'typeorm';
import { toGrants } from './grants';
import { attemptLeaseRights } from './rights';

const schema = /* sql */ `
alter table webhook_deliveries add column attempting_until timestamptz;
comment on column webhook_deliveries.attempting_until is
  'an attempt is being made, which is given up at this time should its worker die; null: none is';
comment on column webhook_deliveries.undispatched_since is
  'since when it waits for a dispatcher, which makes its first attempt; in the future: one has taken it, and another one may from then on; '
  'null: it has ended, or is a workflow''s that was told of it';
`;

/** What is sent again by hand does not overtake an attempt that is being made. */
export class AttemptLeases0074 implements MigrationInterface {
  readonly name = 'AttemptLeases1700000000074';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [schema, ...toGrants(attemptLeaseRights)]) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table webhook_deliveries drop column attempting_until');
  }
}
