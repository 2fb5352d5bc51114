import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError, defaultPayloadConverter } from '@temporalio/common';
import { transferWorkflowId } from '../messages/workflow-ids';
import { readJti } from '../orders/node-orders';
import { withinMs } from '../platform/temporal';

/** A history has up to 50,000 events. */
const historyTimeoutMs = 30_000;
/** Runs of a workflow that are read, each the continuation of the one before. */
const maxRuns = 50;

type Run = Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>;

/**
 * The signed orders in the histories of a transfer's workflow, by jti. Of runs that Temporal no longer keeps there are none.
 * @throws Error when the workflow service does not respond.
 */
export async function findSignedOrders(temporal: Client, txId: string): Promise<Map<string, string>> {
  const orders = new Map<string, string>();
  let runId: string | undefined;
  for (let run = 0; run < maxRuns; run += 1) {
    const history = await fetchRun(temporal, txId, runId);
    if (!history) break;
    for (const order of ordersIn(history)) {
      const jti = readJti(order);
      if (jti !== null) orders.set(jti, order);
    }
    runId = history.events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? undefined;
    if (!runId) break;
  }
  return orders;
}

async function fetchRun(temporal: Client, txId: string, runId: string | undefined): Promise<Run | null> {
  const handle = temporal.workflow.getHandle(transferWorkflowId(txId), runId);
  try {
    return await withinMs(temporal, historyTimeoutMs, () => handle.fetchHistory());
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}

/** From the results of `beginSigning`. */
function* ordersIn({ events }: Run): Generator<string> {
  for (const event of events ?? []) {
    const [payload] = event.activityTaskCompletedEventAttributes?.result?.payloads ?? [];
    if (!payload) continue;
    const result = defaultPayloadConverter.fromPayload<{ order?: unknown } | null>(payload);
    if (typeof result?.order === 'string') yield result.order;
  }
}
