import type { NodeAnswer } from '../src/messages/journal';
import type { OrdersQuestion } from '../src/messages/seen-orders';
import { askEveryNode } from './ask-nodes';

/** Which orders the nodes have acted on. */
export const readOrders = ({ after, nonce, without }: OrdersQuestion): Promise<NodeAnswer[]> =>
  askEveryNode((node, index) => node.ordersSeen({ after: after[index] ?? null, nonce }), without);
