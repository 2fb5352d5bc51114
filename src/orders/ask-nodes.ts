import { type Client, WorkflowFailedError } from '@temporalio/client';
import { TimeoutFailure } from '@temporalio/common';
import type { NodeAnswer } from '../messages/journal';
import { nodeIndexes } from '../messages/nodes';
import { mainTaskQueue } from '../messages/task-queues';
import { isTemporalDown, withinMs } from '../platform/temporal';

/** The nodes have 14 s; the rest is for a worker that is busy. */
const timeoutMs = 20_000;

/** A workflow that asks every node. */
export interface Question {
  workflowType: string;
  workflowId: string;
  request: object;
}

/**
 * Asks all nodes, through a short workflow: only their task queues lead to them. A node that is down is no error. The answers pass
 * through others: whoever reads one verifies the node's signature.
 */
export async function askNodes(temporal: Client, { workflowType, workflowId, request }: Question): Promise<NodeAnswer[]> {
  const ask = () =>
    temporal.workflow.execute<(request: object) => Promise<NodeAnswer[]>>(workflowType, {
      taskQueue: mainTaskQueue,
      workflowId,
      workflowExecutionTimeout: timeoutMs,
      staticSummary: `Asks each signing node: ${workflowType}`,
      args: [request],
    });
  try {
    const answers = await withinMs(temporal, timeoutMs + 2_000, ask);
    return nodeIndexes.map((node) => answers.find((answer) => answer.node === node) ?? { node, problem: 'no answer' });
  } catch (error) {
    const isLate = error instanceof WorkflowFailedError && error.cause instanceof TimeoutFailure;
    if (!isLate && !isTemporalDown(error)) throw error;
    const problem = isLate ? 'no worker has asked it in time' : 'Temporal is unreachable';
    return nodeIndexes.map((node) => ({ node, problem }));
  }
}
