import type { EntityManager } from 'typeorm';
import type { Payment } from '../../chains/payments';
import { countedCost } from './gas-budget';

/** An approval that a payer has signed for a payment of a client. */
export interface WantedApproval {
  clientId: string;
  payment: Pick<Payment, 'chain' | 'token' | 'payer'>;
  /** Coins that the payer lacks for it; atomic units. */
  topUp: bigint;
}

/**
 * Whether the gateway sends another approval for the client: its policy has to allow it, one payer has one approval of a token in a day
 * (UTC), and what the house gives away for the client in 24 hours has a limit. What is given counts, whatever becomes of the payment:
 * the payer can spend it on something else.
 */
export async function isApprovalWithinLimits(manager: EntityManager, wanted: WantedApproval): Promise<boolean> {
  const { clientId, topUp } = wanted;
  const { chain, token, payer } = wanted.payment;
  if (topUp > chain.maxNetworkFee) return false;
  const [row] = await manager.query<{ is_within: boolean }[]>(
    `select p.is_enabled and p.sponsors_approval and not exists (
        select from x402_approvals a
         where (a.chain, a.contract_address, a.payer) = (p.chain, $3, $4) and a.day = (clock_timestamp() at time zone 'utc')::date
      ) and ($5::numeric = 0 or $5 + ${countedCost('given', 'p')} <= p.top_up_per_day) as is_within
       from x402_policies p where p.client_id = $1 and p.chain = $2`,
    [clientId, chain.name, token.contract, payer, topUp.toString()],
  );
  return row?.is_within ?? false;
}

/** Until the end of the database transaction nobody else accepts an approval for the client on the chain: the sum above is exact. */
export async function lockApprovals(manager: EntityManager, clientId: string, chain: string): Promise<void> {
  await manager.query(`select pg_advisory_xact_lock(hashtextextended('x402_approvals ' || $1 || ' ' || $2, 0))`, [
    clientId,
    chain,
  ]);
}
