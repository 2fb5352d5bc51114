import type { JournalRequest, NodeAnswer } from '../src/messages/journal';
import { type NodeIndex, nodeIndexes } from '../src/messages/nodes';
import { nodeActivities } from './activities';
import { isActivityError, toProblem } from './failures';

/** A few rows of the node's database. */
const answerSeconds = 10;

/** Asks all nodes at once, for an operator who waits: each once, and a node that is down is not waited for. */
export function readJournals(request: JournalRequest): Promise<NodeAnswer[]> {
  return Promise.all(nodeIndexes.map((node) => ask(node, request)));
}

async function ask(node: NodeIndex, request: JournalRequest): Promise<NodeAnswer> {
  try {
    return { node, answer: await nodeActivities(node, answerSeconds).journalOf(request) };
  } catch (error) {
    if (!isActivityError(error)) throw error;
    return { node, problem: toProblem(error).message };
  }
}
