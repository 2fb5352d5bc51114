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
 * Reads all orders with higher numbers than `after` from every node, page by page, oldest first; each from its own last page on, so that
 * a node which shows small numbers does not keep back what the others have. A node that does not answer, or whose next page would be the
 * same one, is left out and not asked again. `maxRounds`: questions for each node; an answer has up to 100 orders.
 */
export async function readShownOrders(ask: AskForOrders, after: number, maxRounds: number): Promise<ShownOrders> {
  const orders = new Map<string, ShownOrder>();
  const problems = new Map<NodeIndex, string>();
  /** Nodes that have more to show, and from where on. */
  const open = new Map(nodeIndexes.map((node) => [node, after]));
  for (let round = 0; round < maxRounds && open.size > 0; round += 1) {
    const given = await ask(Object.fromEntries(open));
    for (const [node, from] of [...open]) {
      const response = given.find((candidate) => candidate.node === node) ?? { problem: 'no answer' };
      const page = 'answer' in response ? readPage(response.answer, from) : response;
      if ('problem' in page) problems.set(node, page.problem);
      else if ('answer' in response) collect(orders, node, response.answer);
      if ('problem' in page || page.end === null) open.delete(node);
      else open.set(node, page.end);
    }
  }
  return {
    orders: [...orders.values()],
    nodes: nodeIndexes.filter((node) => !problems.has(node)),
    problems: [...problems].map(([node, problem]) => `node ${node}: ${problem}`),
    isComplete: open.size === 0,
  };
}

/**
 * Where the next page begins; null after the last one. After a restore a number may be that of two orders, with the end of a page between
 * them: the last number is asked for again, unless it is the only one of the page.
 */
function readPage({ orders, is_complete: isLast }: OrdersAnswer, from: number): { end: number | null } | { problem: string } {
  if (isLast) return { end: null };
  const end = Math.max(from, ...orders.map(({ compact }) => readNumber(compact)));
  return end > from ? { end: Math.max(end - 1, from + 1) } : { problem: `it has more orders than it shows after number ${from}` };
}

function collect(found: Map<string, ShownOrder>, node: NodeIndex, { orders }: OrdersAnswer): void {
  for (const { compact, unsigned } of orders) {
    const order = found.get(compact) ?? { compact, bytes: [], nodes: [] };
    if (unsigned !== null && !order.bytes.includes(unsigned)) order.bytes.push(unsigned);
    if (!order.nodes.includes(node)) order.nodes.push(node);
    found.set(compact, order);
  }
}
