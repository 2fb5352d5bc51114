import type { DataSource } from 'typeorm';
import type { Hex } from '../chains/types';
import type { OrderClaims } from '../messages/order';

/** An order that a node acts on, with the bytes that it is about. */
export interface SeenOrder {
  /** JWS in compact form. */
  compact: string;
  /** null: an order about a key. */
  unsigned: Hex | null;
}

/** The orders that this node has acted on, in its own database: they prove what the gateway has ordered, also to the gateway. */
export class SeenOrders {
  constructor(private readonly database: DataSource) {}

  /**
   * Keeps a verified order about a key: call it before what is written durably because of the order. One about a transaction is kept by
   * the statement that admits the signature (src/mpc/journal.ts).
   */
  async add({ claims, compact }: { claims: OrderClaims; compact: string }): Promise<void> {
    await this.database.query('select see_order($1, $2, $3)', [claims.jti, claims.seq, compact]);
  }

  /** The order with the highest number, in compact form; null before the first one. */
  async newest(): Promise<string | null> {
    const [row] = await this.database.query<{ compact: string }[]>('select compact from seen_orders order by seq desc limit 1');
    return row?.compact ?? null;
  }

  /** Orders with higher numbers than `number`, oldest first. */
  after(number: number, limit: number): Promise<SeenOrder[]> {
    return this.database.query<SeenOrder[]>('select compact, unsigned from seen_orders where seq > $1 order by seq limit $2', [
      number,
      limit,
    ]);
  }
}
