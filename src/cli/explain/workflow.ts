import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import { type LiveStatus, statusQuery } from '../../messages/progress';
import { type PossibleUpdates, possibleUpdatesQuery } from '../../messages/transfer';
import { transferWorkflowId } from '../../messages/workflow-ids';
import { printable } from '../../platform/printable';
import { isOpenRun, withinMs } from '../../platform/temporal';
import { within } from '../../platform/within';

const describeTimeoutMs = 3_000;
/** A worker has to answer a query, and may have to replay the run first. */
const queryTimeoutMs = 5_000;
const maxPending = 10;
const maxFailureLength = 300;

/** `none`: it never runs one. `missing`: Temporal knows none. `silent`: Temporal did not answer. */
export type WorkflowState = 'open' | 'closed' | 'missing' | 'silent' | 'none';

export interface WorkflowView {
  state: WorkflowState;
  /** One sentence. */
  note: string;
  workflow_id: string | null;
  run_id: string | null;
  started_at: Date | null;
  closed_at: Date | null;
  /** What it does now; null where it is not open, or where no worker has answered in time. */
  live: LiveStatus | null;
  /** Which updates of operators the run would take now; null: it has not said. */
  possible: PossibleUpdates | null;
  /** Steps that are being tried, and why the last try has failed. */
  pending: { activity: string; attempt: number; last_failure: string | null }[];
  /** In the Temporal UI; null without its address. */
  link: string | null;
}

const nothing = { run_id: null, started_at: null, closed_at: null, live: null, possible: null, pending: [], link: null };

/** For a transaction that no workflow carries out. */
export const noWorkflow: WorkflowView = {
  ...nothing,
  ...{ state: 'none', note: 'Transactions of this type have no workflow', workflow_id: null },
};

/** Asks Temporal, and through it the worker, each with a time-out. Never throws for what does not answer. */
export async function viewWorkflow(temporal: Client, txId: string, uiUrl: string | undefined): Promise<WorkflowView> {
  const workflowId = transferWorkflowId(txId);
  const named = { ...nothing, workflow_id: workflowId };
  const link = uiUrl === undefined ? null : toLink(uiUrl, temporal.options.namespace, workflowId);
  const handle = temporal.workflow.getHandle(workflowId);
  let described;
  try {
    described = await answered(temporal, describeTimeoutMs, () => handle.describe());
  } catch (error) {
    if (error instanceof WorkflowNotFoundError)
      return { ...named, state: 'missing', note: 'Temporal has no workflow of it: it was not started, or is not kept any more' };
    return { ...named, link, state: 'silent', note: 'Temporal did not answer: whether the workflow is running is not known' };
  }
  const view = {
    ...named,
    link,
    run_id: described.runId,
    started_at: described.startTime,
    closed_at: described.closeTime ?? null,
  };
  if (!isOpenRun(described)) return { ...view, state: 'closed', note: `The workflow is not running: ${described.status.name}` };
  const ask = <T>(query: () => Promise<T>): Promise<T | null> => answered(temporal, queryTimeoutMs, query).catch(() => null);
  const [live, possible] = await Promise.all([
    ask(() => handle.query(statusQuery)),
    ask(() => handle.query(possibleUpdatesQuery)),
  ]);
  const note = live ? 'The workflow is running' : 'The workflow is running, and no worker has said in time what it does';
  const pending = (described.raw.pendingActivities ?? []).slice(0, maxPending).map(({ activityType, attempt, lastFailure }) => ({
    activity: activityType?.name ?? '',
    attempt: attempt ?? 1,
    last_failure: lastFailure?.message ? printable(lastFailure.message, maxFailureLength) : null,
  }));
  return { ...view, state: 'open', note, live, possible, pending };
}

/** The deadline of a call begins once there is a connection, which takes a time of its own. */
const answered = <T>(temporal: Client, timeoutMs: number, call: () => Promise<T>): Promise<T> =>
  within(withinMs(temporal, timeoutMs, call), timeoutMs + 500, () => new Error('Temporal did not answer in time'));

const toLink = (uiUrl: string, namespace: string, workflowId: string): string =>
  `${uiUrl.replace(/\/+$/, '')}/namespaces/${encodeURIComponent(namespace)}/workflows/${encodeURIComponent(workflowId)}`;
