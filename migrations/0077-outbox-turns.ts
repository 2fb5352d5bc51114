import type { MigrationInterface, QueryRunner } from 'typeorm';
import { toGrants } from './grants';
import { outboxTurnRights } from './rights';

const schema = /* sql */ `
-- for a reason of its own, and not for want of room: it is in nobody's way, and counts for its client alone
alter table workflow_outbox add column is_postponed boolean not null default false;

-- the next turn on a chain, and the last one of a client there
create index workflow_outbox_by_turn on workflow_outbox (kind, coalesce(chain, ''), turn) where not is_postponed;
create index workflow_outbox_by_client on workflow_outbox (kind, coalesce(chain, ''), client_id, turn) where not is_postponed;
`;

/** Clients take turns with the starts of transfers, as with the generation of keys. */
export class OutboxTurns0077 implements MigrationInterface {
  readonly name = 'OutboxTurns1700000000077';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [schema, ...toGrants(outboxTurnRights)]) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      revoke update (deliver_after) on workflow_outbox from gateway_api;
      drop index workflow_outbox_by_client, workflow_outbox_by_turn;
      alter table workflow_outbox drop column is_postponed;
      revoke update (turn) on workflow_outbox from gateway_worker;
    `);
  }
}
