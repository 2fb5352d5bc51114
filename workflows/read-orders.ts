import type { NodeAnswer } from '../src/messages/journal';
import type { OrdersRequest } from '../src/messages/seen-orders';
import { askEveryNode } from './ask-nodes';

/** Which orders the nodes have acted on. */
export const readOrders = (request: OrdersRequest): Promise<NodeAnswer[]> => askEveryNode((node) => node.ordersSeen(request));
