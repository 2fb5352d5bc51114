import type { DataSource } from 'typeorm';
import type { Hex } from '../chains/types';
import { type NodeIndex, quorum } from '../messages/nodes';
import type { OrderClaims } from '../messages/order';
import type { OrderKeys } from '../mpc/order-keys';
import { GatewayError } from '../platform/errors';
import { type AskForOrders, openOrder } from './node-orders';

/** An order that a node has shown and the database does not have. */
export interface MissingOrder {
  claims: OrderClaims;
  /** As the nodes have shown them: the order does not sign them, but their digests. Empty for an order about a key. */
  bytes: Hex[];
}

export interface MissingOrders {
  /** By number. */
  orders: MissingOrder[];
  /** Nodes that have shown all of theirs. */
  nodes: NodeIndex[];
}

/** Answers of 100 orders from each node. */
const maxRounds = 10_000;

interface Options {
  database: DataSource;
  ask: AskForOrders;
  keys: OrderKeys;
  deployment: string;
}

/**
 * All orders with higher numbers than `after` that nodes have acted on and the database does not have. What no key of ORDER_KEYS has
 * signed proves nothing and is left out.
 * @throws GatewayError signers_unavailable when fewer than two nodes have shown all of theirs.
 */
export async function findMissingOrders({ database, ask, keys, deployment }: Options, after: number): Promise<MissingOrders> {
  const found = new Map<string, MissingOrder>();
  let nodes: NodeIndex[] = [1, 2, 3];
  let from = after;
  for (let round = 0; round < maxRounds; round += 1) {
    const answers = (await ask(from)).flatMap((given) => ('answer' in given ? [given] : []));
    nodes = nodes.filter((node) => answers.some((answer) => answer.node === node));
    if (nodes.length < quorum)
      throw new GatewayError('signers_unavailable', `Only ${nodes.length} nodes have shown their orders, ${quorum} are needed`);
    const ends: number[] = [];
    for (const { answer } of answers.filter(({ node }) => nodes.includes(node))) {
      let last = from;
      for (const { compact, unsigned } of answer.orders) {
        const claims = await openOrder(compact, keys, deployment);
        if (!claims) continue;
        last = claims.seq;
        const bytes = found.get(claims.jti)?.bytes ?? [];
        found.set(claims.jti, { claims, bytes: unsigned === null ? bytes : [...bytes, unsigned] });
      }
      if (!answer.is_complete && last > from) ends.push(last);
    }
    if (ends.length === 0) break;
    from = Math.min(...ends);
  }
  return { nodes, orders: await withoutKnown(database, [...found.values()]) };
}

async function withoutKnown(database: DataSource, orders: MissingOrder[]): Promise<MissingOrder[]> {
  const rows = await database.query<{ jti: string }[]>('select jti from orders where jti = any($1::uuid[])', [
    orders.map(({ claims }) => claims.jti),
  ]);
  const known = new Set(rows.map(({ jti }) => jti));
  return orders.filter(({ claims }) => !known.has(claims.jti)).sort((a, b) => a.claims.seq - b.claims.seq);
}
