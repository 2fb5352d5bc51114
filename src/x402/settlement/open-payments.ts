import type { EntityManager } from 'typeorm';
import type { Payment } from '../../chains/payments';

/**
 * Whether fewer settlements of the payer than this are open on the chain, whichever clients have asked for them. Until the end of the database
 * transaction nobody else finds out the same.
 */
export async function lockOpenPayments(
  manager: EntityManager,
  { chain, payer }: Pick<Payment, 'chain' | 'payer'>,
  most: number,
): Promise<boolean> {
  const values = [chain.name, payer];
  await manager.query(`select pg_advisory_xact_lock(hashtextextended('x402_payers ' || $1 || ' ' || $2, 0))`, values);
  const [row] = await manager.query<{ count: number }[]>(
    `select count(*)::int as count from transactions
      where chain = $1 and ended_at is null and sender_address is not null and from_address = $2`,
    values,
  );
  return row !== undefined && row.count < most;
}
