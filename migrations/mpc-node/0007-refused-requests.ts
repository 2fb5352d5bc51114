import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- What this node has refused, whoever has asked: not signed, and not complete where one asker is refused very often (refused-requests.ts).
create table refused_requests (
  number bigint generated always as identity primary key,
  -- peer: another node has asked; initiator: Temporal has
  role text not null check (role in ('peer', 'initiator')),
  -- what the node was asked to do
  act text not null,
  code text not null,
  reason text not null,
  -- the other node of the session, if there is one
  peer smallint check (peer between 1 and 3),
  -- jti, kind, transaction, attempt and key as the order says them, whether or not it is valid
  named jsonb not null,
  refused_at timestamptz not null default clock_timestamp()
);
create index refused_requests_by_time on refused_requests (refused_at);
`;

/** What was refused to peers and to Temporal, beside the signed refusals by the operator's limits. */
export class RefusedRequests0007 implements MigrationInterface {
  readonly name = 'RefusedRequests1700000000007';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('what was refused is not dropped by a migration'));
  }
}
