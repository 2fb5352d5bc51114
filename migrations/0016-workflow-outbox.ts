import type { MigrationInterface, QueryRunner } from 'typeorm';

const schema = /* sql */ `
-- Messages to workflows, written in the database transaction of the act and deleted once they are delivered.
create table workflow_outbox (
  outbox_id bigint generated always as identity primary key,
  kind text not null check (kind in ('start_transfer', 'start_key_generation', 'transfer_approved', 'transfer_ended')),
  -- tx_id or wallet_id
  subject_id uuid not null,
  client_id uuid not null references clients,
  -- of starts: the number of running transfers is limited per chain
  chain text,
  -- order of delivery within a kind, before outbox_id; 0 for kinds in which clients do not take turns
  turn bigint not null default 0 check (turn >= 0),
  created_at timestamptz not null default clock_timestamp(),
  -- when the dispatcher may deliver it: after its writer has had time to do so, or some time after a failure
  deliver_after timestamptz not null default clock_timestamp() + interval '2 seconds',
  unique (kind, subject_id)
);
create index workflow_outbox_by_kind on workflow_outbox (kind, turn, outbox_id);

-- approvals that may be overdue
create index approvals_expiring on transactions (approval_expires_at) where status = 'AWAITING_APPROVAL';
-- transfers whose workflow is active
create index transfers_in_flight on transactions (chain, tx_id) where is_signed and status in ('PENDING', 'SIGNING');
`;

/** Messages to workflows that are not delivered yet. */
export class WorkflowOutbox0016 implements MigrationInterface {
  readonly name = 'WorkflowOutbox1700000000016';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(schema);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('undelivered messages are not dropped by a migration'));
  }
}
