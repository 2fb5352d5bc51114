import type { EntityManager } from 'typeorm';
import type { OrderClaims } from '../messages/order';

/**
 * An order that nodes have shown and that a key of the authoriser has signed. `of`: the attempt that it is about, if that is stored; null
 * otherwise. Orders that are issued later get higher numbers. The sequence is only ever moved forward, also where the transaction is
 * rolled back: numbers that are left out mean nothing.
 */
export async function storeShownOrder(
  manager: EntityManager,
  claims: OrderClaims,
  of: { txId: string; attempt: number } | null,
): Promise<void> {
  await manager.query(
    `insert into orders (jti, seq, kind, tx_id, attempt, claims, issued_at) values ($1, $2, $3, $4, $5, $6, to_timestamp($7))
     on conflict (jti) do nothing`,
    [claims.jti, claims.seq, claims.kind, of?.txId ?? null, of?.attempt ?? null, JSON.stringify(claims), claims.iat],
  );
  await manager.query(`select setval('order_numbers', $1::bigint) where $1::bigint > (select last_value from order_numbers)`, [
    claims.seq,
  ]);
}
