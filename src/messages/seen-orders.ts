/** Asks every node which orders it has acted on. */
export interface OrdersRequest {
  /** Orders with higher numbers, oldest first; null: none, only the newest order. */
  after: number | null;
  /** 32 random hex digits, which the answer repeats: it is not an old one. */
  nonce: string;
}
