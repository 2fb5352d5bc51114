import type { DataSource } from 'typeorm';
import type { Hex } from '../chains/types';
import { type NodeIndex, nodeIndexes } from '../messages/nodes';
import type { OrderClaims } from '../messages/order';
import { openOrder } from '../mpc/open-order';
import type { OrderKeys } from '../mpc/order-keys';
import { GatewayError } from '../platform/errors';
import { findKnownOrders } from './known-orders';
import { type AskForOrders, readJti } from './node-orders';
import { readShownOrders } from './shown-orders';

/** An order that a node has shown and the database does not have. */
export interface MissingOrder {
  claims: OrderClaims;
  /** As the nodes have shown them: the order does not sign them, but their digests. Empty for an order about a key. */
  bytes: Hex[];
}

/** What a node shows as an order, and no key of ORDER_KEYS has signed for this deployment. */
export interface UnverifiedOrder {
  /** As it claims itself; null: it does not even do that. */
  jti: string | null;
  nodes: NodeIndex[];
}

export interface MissingOrders {
  /** By number. */
  orders: MissingOrder[];
  unverified: UnverifiedOrder[];
  /** How many different orders they have shown. */
  shown: number;
  /** Nodes that have shown all of theirs. */
  nodes: NodeIndex[];
}

/** Answers of 100 orders from each node. */
const defaultRounds = 10_000;

interface Options {
  database: DataSource;
  ask: AskForOrders;
  keys: OrderKeys;
  deployment: string;
  /** Nodes that must show all of theirs. */
  needed: number;
  maxRounds?: number;
}

/**
 * All orders with higher numbers than `after` that nodes have acted on and the database does not have.
 * @throws GatewayError signers_unavailable when fewer nodes than needed have shown all of theirs, or they have more than is asked for.
 */
export async function findMissingOrders(options: Options, after: number): Promise<MissingOrders> {
  const { database, ask, keys, deployment, needed, maxRounds = defaultRounds } = options;
  const shown = await readShownOrders(ask, after, maxRounds);
  if (shown.nodes.length < needed)
    throw new GatewayError(
      'signers_unavailable',
      `${describeNodes(shown.nodes)}, ${needed} are needed (${shown.problems.join('; ')})`,
    );
  if (!shown.isComplete)
    throw new GatewayError(
      'signers_unavailable',
      `The nodes have more orders after number ${after} than ${maxRounds} answers can show`,
    );
  const isKnown = await findKnownOrders(
    database,
    shown.orders.map(({ compact }) => compact),
  );
  const found = new Map<string, MissingOrder>();
  const unverified: UnverifiedOrder[] = [];
  for (const { compact, bytes, nodes } of shown.orders.filter((it) => !isKnown(it.compact))) {
    const claims = await openOrder(compact, keys, deployment);
    if (claims) found.set(claims.jti, { claims, bytes: [...(found.get(claims.jti)?.bytes ?? []), ...bytes] });
    else unverified.push({ jti: readJti(compact), nodes });
  }
  return {
    nodes: shown.nodes,
    shown: shown.orders.length,
    orders: [...found.values()].sort((a, b) => a.claims.seq - b.claims.seq),
    unverified,
  };
}

/** For an operator: which of the three have shown all of their orders. */
export function describeNodes(nodes: readonly NodeIndex[]): string {
  if (nodes.length === nodeIndexes.length) return 'All three nodes have shown their orders';
  return nodes.length === 0 ? 'No node has shown its orders' : `Shown by node ${nodes.join(' and ')} alone`;
}
