import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import type { EntityManager } from 'typeorm';
import { transferWorkflowId } from '../../messages/workflow-ids';
import { isOpenRun, withinMs } from '../../platform/temporal';
import { within } from '../../platform/within';

/** Transactions whose workflow has closed before they have ended: by an operator in the Temporal UI, a fault, or a lost namespace. */

/** One that was accepted just now may be about to start. */
const minAgeMinutes = 5;
const describeTimeoutMs = 2_000;
/** No transaction has a lower one: where a page by id begins. */
export const lowestId = '00000000-0000-0000-0000-000000000000';

/** How the newest run has closed; `missing`: Temporal knows none. */
const lostReasons = ['terminated', 'cancelled', 'failed', 'timed_out', 'completed', 'missing'] as const;
export type LostReason = (typeof lostReasons)[number];

export interface OpenTransaction {
  txId: string;
  chain: string;
  type: string;
  status: string;
}

/**
 * Open transactions that a workflow has to carry out, whatever their type, the oldest first: those that were accepted some minutes ago and
 * whose start is delivered.
 * @param after tx_id of the last one of the page before
 */
export function findStarted(manager: EntityManager, after: string, limit: number): Promise<OpenTransaction[]> {
  return manager.query<OpenTransaction[]>(
    // those that have not ended are few: they are found by their own index, and not by walking through all
    `with unended as materialized (
       select tx_id, chain, transaction_type, status from transactions
        where ended_at is null and is_signed and created_at < clock_timestamp() - make_interval(mins => $1))
     select tx_id as "txId", chain, transaction_type as type, status from unended
      where tx_id > $2::uuid
        and not exists (select from workflow_outbox where kind = 'start_transfer' and subject_id = tx_id)
      order by tx_id limit $3`,
    [minAgeMinutes, after, limit],
  );
}

/** Those of these that have not ended. */
export async function findUnended(manager: EntityManager, txIds: readonly string[]): Promise<Set<string>> {
  if (txIds.length === 0) return new Set();
  const rows = await manager.query<{ txId: string }[]>(
    'select tx_id as "txId" from transactions where tx_id = any($1::uuid[]) and ended_at is null',
    [txIds],
  );
  return new Set(rows.map(({ txId }) => txId));
}

/**
 * How the workflow of a transaction has closed; null: it is running. A transaction that is open in a row read after that has lost it: the
 * row ends before the workflow does.
 * @throws Error when the workflow service does not respond, or has no such namespace: then nothing is known.
 */
export async function findClosed(temporal: Client, txId: string): Promise<LostReason | null> {
  const describe = () => temporal.workflow.getHandle(transferWorkflowId(txId)).describe();
  try {
    // the deadline of a call begins once there is a connection, which takes a time of its own
    const late = () => new Error('Temporal did not answer in time');
    const run = await within(withinMs(temporal, describeTimeoutMs, describe), describeTimeoutMs + 500, late);
    if (isOpenRun(run)) return null;
    const status = run.status.name.toLowerCase();
    // CONTINUED_AS_NEW: the next run is there by then
    return lostReasons.find((reason) => reason === status) ?? null;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'missing';
    throw error;
  }
}
