import { randomBytes } from 'node:crypto';
import type { Client } from '@temporalio/client';
import type { JournalRequest, NodeAnswer } from '../messages/journal';
import type { NodeIndex } from '../messages/nodes';
import { readJournalsWorkflowId, workflowTypes } from '../messages/workflow-ids';
import type { NodeKeys } from '../mpc/identity';
import { type NodeJournal, readAnswer } from '../mpc/journal-answer';
import { askNodes } from '../orders/ask-nodes';

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
  const workflowId = readJournalsWorkflowId(request);
  const answers = await askNodes(temporal, { workflowType: workflowTypes.readJournals, workflowId, request });
  return answers.map((given) => check(given, request, keys));
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
