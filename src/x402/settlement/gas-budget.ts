import type { EntityManager } from 'typeorm';
import { isBraked } from './payer-brake';

interface BudgetRow {
  is_enabled: boolean;
  is_within: boolean;
  is_braked: boolean;
}

export interface GasRequest {
  clientId: string;
  chain: string;
  /** As shown to clients. */
  payer: string;
  /** What is not counted yet; atomic units of the chain's native coin. */
  gasBound: bigint;
}

/**
 * SQL of what is counted for a client on a chain in the last 24 hours, the first of them as a whole; atomic units of the native coin.
 * @param what `fees`: of settlements and of what is sent to their payers, highest ones as long as these are open; `given`: coins given
 * @param policy alias of the client's row of x402_policies
 */
export const countedCost = (what: 'fees' | 'given', policy: string): string =>
  `(select coalesce(sum(c.${what}), 0) from x402_costs c
     where c.client_id = ${policy}.client_id and c.chain = ${policy}.chain and c.hour >= x402_first_hour())`;

/**
 * Whether the house pays so much more for the client, beside what its settlements of the last 24 hours have cost, and may cost as long as
 * they are open. Settlements that are accepted at the same time do not see each other: all of them together may exceed the limit, since
 * no row is locked for every settlement of a client. `braked`: it pays for no more payments of this payer, of which too many have failed.
 */
export async function checkGasBudget(
  manager: EntityManager,
  { clientId, chain, payer, gasBound }: GasRequest,
): Promise<'within' | 'exhausted' | 'disabled' | 'braked'> {
  const [row] = await manager.query<BudgetRow[]>(
    `select p.is_enabled, p.gas_per_day is null or $3 + ${countedCost('fees', 'p')} <= p.gas_per_day as is_within,
            ${isBraked('p', '$4')} as is_braked
       from x402_policies p where p.client_id = $1 and p.chain = $2`,
    [clientId, chain, gasBound.toString(), payer],
  );
  if (!row?.is_enabled) return 'disabled';
  if (row.is_braked) return 'braked';
  return row.is_within ? 'within' : 'exhausted';
}
