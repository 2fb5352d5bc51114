import type { NodeAnswer } from '../src/messages/journal';
import type { OrdersQuestion } from '../src/messages/seen-orders';
import { nodeIndexes } from '../src/messages/nodes';
import { askNodes } from './ask-nodes';

/** Which orders the nodes have acted on. */
export const readOrders = ({ after, nonce }: OrdersQuestion): Promise<NodeAnswer[]> =>
  askNodes(
    nodeIndexes.filter((node) => after[node] !== undefined),
    (node, index) => node.ordersSeen({ after: after[index] ?? null, nonce }),
  );
