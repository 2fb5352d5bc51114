import type { NodeAnswer } from '../src/messages/journal';
import type { OrdersQuestion } from '../src/messages/seen-orders';
import { nodeIndexes } from '../src/messages/nodes';
import { askEach } from './ask-nodes';

/** Which orders the nodes have acted on. */
export function readOrders({ after, nonce }: OrdersQuestion): Promise<NodeAnswer[]> {
  const asked = nodeIndexes.filter((node) => after[node] !== undefined);
  return askEach(asked, (node, index) => node.ordersSeen({ after: after[index] as number | null, nonce }));
}
