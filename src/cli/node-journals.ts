import { randomBytes } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { TimeoutFailure, WorkflowFailedError } from '@temporalio/client';
import type { JournalRequest, NodeAnswer } from '../messages/journal';
import { nodeIndexes, type NodeIndex } from '../messages/nodes';
import { mainTaskQueue } from '../messages/task-queues';
import { readJournalsWorkflowId, workflowTypes } from '../messages/workflow-ids';
import type { NodeKeys } from '../mpc/identity';
import { type NodeJournal, readAnswer } from '../mpc/journal-answer';
import { isTemporalDown, withinMs } from '../platform/temporal';

/** The nodes have 14 s; the rest is for a worker that is busy. */
const timeoutMs = 20_000;

/**
 * `verified`: the node has signed its answer to this very question. `invalid`: what came back is not that. `unreachable`: no answer,
 * `detail` says why.
 */
export type NodeReport = { node: NodeIndex; detail: string | null } & (
  { state: 'verified'; journal: NodeJournal } | { state: 'invalid' | 'unreachable'; journal: null }
);

/** What each node has on record about a transaction, verified with the nodes' certificates. A node that is down is no error. */
export async function readNodeJournals(temporal: Client, txId: string, keys: NodeKeys): Promise<NodeReport[]> {
  const request = { txId, nonce: randomBytes(16).toString('hex') };
  const answers = await askNodes(temporal, request);
  return nodeIndexes.map((node) => {
    const given = answers.find((answer) => answer.node === node) ?? { node, problem: 'no answer' };
    return check(given, request, keys);
  });
}

/** Through a short workflow: only the nodes' task queues lead to them. */
async function askNodes(temporal: Client, request: JournalRequest): Promise<NodeAnswer[]> {
  const ask = () =>
    temporal.workflow.execute<(request: JournalRequest) => Promise<NodeAnswer[]>>(workflowTypes.readJournals, {
      taskQueue: mainTaskQueue,
      workflowId: readJournalsWorkflowId(request),
      workflowExecutionTimeout: timeoutMs,
      args: [request],
    });
  try {
    return await withinMs(temporal, timeoutMs + 2_000, ask);
  } catch (error) {
    const isLate = error instanceof WorkflowFailedError && error.cause instanceof TimeoutFailure;
    if (!isLate && !isTemporalDown(error)) throw error;
    const problem = isLate ? 'no worker has asked it in time' : 'Temporal is unreachable';
    return nodeIndexes.map((node) => ({ node, problem }));
  }
}

function check(given: NodeAnswer, request: JournalRequest, keys: NodeKeys): NodeReport {
  const { node } = given;
  if ('problem' in given) return { node, state: 'unreachable', detail: given.problem, journal: null };
  try {
    const journal = readAnswer(given.answer, node, request, keys);
    return { node, state: 'verified', detail: journal.isComplete ? null : 'older records are left out', journal };
  } catch (error) {
    return { node, state: 'invalid', detail: (error as Error).message, journal: null };
  }
}
