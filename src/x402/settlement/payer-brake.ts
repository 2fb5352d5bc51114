import type { EntityManager } from 'typeorm';
import type { Payment } from '../../chains/payments';
import type { Reason } from '../reasons';

/** Too many payments of the payer have failed on the chain: the protocol's name for transactions that did. */
export const brakedReason = 'invalid_transaction_state' satisfies Reason;

/**
 * SQL: whether so many payments of a payer have failed on the chain within the last hour that the house pays for no more of them. Counted
 * are those that a block has executed without paying, of one client on one chain.
 * @param policy alias of the client's row of x402_policies
 * @param payer as shown to clients
 */
export const isBraked = (policy: string, payer: string): string =>
  `coalesce((select count(*) from x402_failures f
     where (f.client_id, f.chain, f.payer) = (${policy}.client_id, ${policy}.chain, ${payer})
       and f.failed_at > clock_timestamp() - interval '1 hour') >= ${policy}.failures_per_payer, false)`;

/** The same of a payment that a client asks about; a client without a policy has no payments. */
export async function isPayerBraked(
  manager: EntityManager,
  clientId: string,
  { chain, payer }: Pick<Payment, 'chain' | 'payer'>,
): Promise<boolean> {
  const [row] = await manager.query<{ is_braked: boolean }[]>(
    `select ${isBraked('p', '$3')} as is_braked from x402_policies p where p.client_id = $1 and p.chain = $2`,
    [clientId, chain.name, payer],
  );
  return row?.is_braked ?? false;
}
