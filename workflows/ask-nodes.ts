import type { NodeAnswer, SignedAnswer } from '../src/messages/journal';
import { type NodeIndex, nodeIndexes } from '../src/messages/nodes';
import { nodeActivities } from './activities';
import { isActivityError, toProblem } from './failures';

/** A few rows of the node's database. */
const answerSeconds = 10;

type Node = ReturnType<typeof nodeActivities>;

/** Asks all nodes at once, for somebody who waits: each once, and a node that is down is not waited for. */
export function askEveryNode(question: (node: Node) => Promise<SignedAnswer>): Promise<NodeAnswer[]> {
  return Promise.all(nodeIndexes.map((node) => ask(node, question)));
}

async function ask(node: NodeIndex, question: (node: Node) => Promise<SignedAnswer>): Promise<NodeAnswer> {
  try {
    return { node, answer: await question(nodeActivities(node, answerSeconds)) };
  } catch (error) {
    if (!isActivityError(error)) throw error;
    return { node, problem: toProblem(error).message };
  }
}
