import type { Hex } from '../chains/types';
import { type NodeIndex, nodeIndexes } from '../messages/nodes';
import type { OrdersAnswer } from '../mpc/orders-answer';
import { type AskForOrders, readNumber } from './node-orders';

/** An order as nodes show it: nothing of it is verified. */
export interface ShownOrder {
  compact: string;
  /** What it is about, as the nodes have shown it; empty for an order about a key. */
  bytes: Hex[];
  nodes: NodeIndex[];
}

export interface ShownOrders {
  orders: ShownOrder[];
  /** Nodes that have shown all of theirs, or as many as were asked for. */
  nodes: NodeIndex[];
  /** Why the others have not. */
  problems: string[];
  /** False when nodes have more than was asked for. */
  isComplete: boolean;
}

/**
 * Reads all orders with higher numbers than `after` from every node, page by page, oldest first. A node that does not answer, or whose
 * next page would be the same one, is left out. `maxRounds`: questions; an answer has up to 100 orders.
 */
export async function readShownOrders(ask: AskForOrders, after: number, maxRounds: number): Promise<ShownOrders> {
  const orders = new Map<string, ShownOrder>();
  const problems = new Map<NodeIndex, string>();
  const left = () => nodeIndexes.filter((node) => !problems.has(node));
  let isComplete = false;
  for (let [from, round] = [after, 0]; round < maxRounds && !isComplete; round += 1) {
    const ends: number[] = [];
    const given = await ask(from);
    for (const node of left()) {
      const response = given.find((candidate) => candidate.node === node) ?? { problem: 'no answer' };
      const page = 'answer' in response ? readPage(response.answer, from) : response;
      if ('problem' in page) problems.set(node, page.problem);
      else {
        if ('answer' in response) collect(orders, node, response.answer);
        if (page.end !== null) ends.push(page.end);
      }
    }
    isComplete = ends.length === 0;
    from = Math.min(...ends);
  }
  return {
    orders: [...orders.values()],
    nodes: left(),
    problems: [...problems].map(([node, problem]) => `node ${node}: ${problem}`),
    isComplete,
  };
}

/** Where the next page begins; null after the last one. */
function readPage({ orders, is_complete: isLast }: OrdersAnswer, from: number): { end: number | null } | { problem: string } {
  if (isLast) return { end: null };
  const end = Math.max(from, ...orders.map(({ compact }) => readNumber(compact)));
  return end > from ? { end } : { problem: `it has more orders than it shows after number ${from}` };
}

function collect(found: Map<string, ShownOrder>, node: NodeIndex, { orders }: OrdersAnswer): void {
  for (const { compact, unsigned } of orders) {
    const order = found.get(compact) ?? { compact, bytes: [], nodes: [] };
    if (unsigned !== null && !order.bytes.includes(unsigned)) order.bytes.push(unsigned);
    if (!order.nodes.includes(node)) order.nodes.push(node);
    found.set(compact, order);
  }
}
