import type { EntityManager } from 'typeorm';
import type { Payment } from '../../chains/payments';

/** SQL: whether a settlement that creates the payer's wallet has not ended. Parameters: the chain's name, the payer as shown to clients. */
export const openDeployment = (chain: string, payer: string): string =>
  `exists (select from transactions t join x402_settlements s using (tx_id)
            where t.chain = ${chain} and t.sender_address is not null and t.ended_at is null and t.from_address = ${payer}
              and s.sponsoring = 'deployment' and s.amount > 0)`;

/**
 * Whether nobody is creating the payer's wallet, for any client. Of two settlements that create one wallet the second could use up its gas
 * and fail. Until the end of the database transaction nobody else finds out the same.
 */
export async function lockCreation(manager: EntityManager, { chain, payer }: Pick<Payment, 'chain' | 'payer'>): Promise<boolean> {
  const values = [chain.name, payer];
  await manager.query(`select pg_advisory_xact_lock(hashtextextended('x402_deployments ' || $1 || ' ' || $2, 0))`, values);
  const [row] = await manager.query<{ is_open: boolean }[]>(`select ${openDeployment('$1', '$2')} as is_open`, values);
  return row?.is_open === false;
}
