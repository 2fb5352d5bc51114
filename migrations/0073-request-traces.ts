import type { MigrationInterface, QueryRunner } from 'typeorm';
import { toGrants } from './grants';
import { requestTraceRights } from './rights';

const schema = /* sql */ `
-- The span in which a transfer was accepted, or a wallet asked for: what is done about it later goes on in the same trace.
-- Written only where traces are exported, and kept for two weeks.
create table request_traces (
  -- tx_id or wallet_id
  subject_id uuid primary key,
  -- W3C Trace Context, version 00
  trace_parent text not null check (trace_parent ~ '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$'),
  created_at timestamptz not null default clock_timestamp()
);
create index request_traces_by_age on request_traces (created_at);
`;

/** Traces go on in processes that no request reaches. */
export class RequestTraces0073 implements MigrationInterface {
  readonly name = 'RequestTraces1700000000073';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [schema, ...toGrants(requestTraceRights)]) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table request_traces');
  }
}
