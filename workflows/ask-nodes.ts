import type { NodeAnswer, SignedAnswer } from '../src/messages/journal';
import type { NodeIndex } from '../src/messages/nodes';
import { nodeActivities } from './activities';
import { isActivityError, toProblem } from './failures';

/** A few rows of the node's database. */
const answerSeconds = 10;

type Node = ReturnType<typeof nodeActivities>;

type Question = (node: Node, index: NodeIndex) => Promise<SignedAnswer>;

/** Asks these nodes at once, for somebody who waits: each once, and a node that is down is not waited for. */
export const askEach = (nodes: readonly NodeIndex[], question: Question): Promise<NodeAnswer[]> =>
  Promise.all(nodes.map((node) => ask(node, question)));

async function ask(node: NodeIndex, question: Question): Promise<NodeAnswer> {
  try {
    return { node, answer: await question(nodeActivities(node, answerSeconds), node) };
  } catch (error) {
    if (!isActivityError(error)) throw error;
    return { node, problem: toProblem(error).message };
  }
}
