import type { NodeIndex } from './nodes';

/** Asks one node which orders it has acted on. */
export interface OrdersRequest {
  /** Orders with higher numbers, oldest first; null: none, only the newest order. */
  after: number | null;
  /** 32 random hex digits, which the answer repeats: it is not an old one. */
  nonce: string;
}

/** For each node the `after` of its request: what one node shows does not move the others. A node that is absent is not asked. */
export type OrderPositions = Partial<Record<NodeIndex, number | null>>;

/** Asks the nodes, all at once. */
export interface OrdersQuestion {
  after: OrderPositions;
  nonce: string;
}
