import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- What an operator has asked for, and nobody else can: the workflow that carries it out is not believed.
create table operator_requests (
  request_id uuid primary key,
  tx_id uuid not null references transactions,
  -- abandon: to give up a transfer whose signing has begun
  kind text not null check (kind in ('abandon')),
  operator text not null check (length(operator) between 1 and 200),
  requested_at timestamptz not null default clock_timestamp()
);
create index operator_requests_by_transaction on operator_requests (tx_id);
create trigger operator_requests_append_only before update or delete or truncate on operator_requests
  for each statement execute function refuse_change();
`;

/** Requests of operators. */
export class OperatorRequests0017 implements MigrationInterface {
  readonly name = 'OperatorRequests1700000000017';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('requests of operators are not dropped by a migration'));
  }
}
