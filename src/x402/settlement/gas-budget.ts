import type { EntityManager } from 'typeorm';

interface BudgetRow {
  is_enabled: boolean;
  is_within: boolean;
}

export interface GasRequest {
  clientId: string;
  chain: string;
  /** Atomic units of the chain's native coin. */
  gasBound: bigint;
  /** Counted before, where it is asked about again. */
  txId?: string;
}

/**
 * Whether the house pays another settlement of the client: what its settlements of the last 24 hours have cost, and may cost as long as
 * they are open, with this one; and the fees of what was given to their payers. Settlements that are accepted at the same time do not see each other: all of them together may exceed
 * the limit, since no row is locked for every settlement of a client.
 */
export async function checkGasBudget(
  manager: EntityManager,
  { clientId, chain, gasBound, txId }: GasRequest,
): Promise<'within' | 'exhausted' | 'disabled'> {
  const [row] = await manager.query<BudgetRow[]>(
    `select p.is_enabled, p.gas_per_day is null or $3 + (
        select coalesce(sum(coalesce(t.fee, case when t.ended_at is null then s.gas_bound else 0 end)), 0)
          from x402_settlements s join transactions t using (tx_id)
         where s.client_id = p.client_id and s.chain = p.chain and s.created_at > clock_timestamp() - interval '24 hours'
           and s.tx_id is distinct from $4
      ) + (
        select coalesce(sum(coalesce(t.fee, case when t.ended_at is null then t.fee_locked else 0 end)), 0)
          from x402_approvals a join transactions t on t.parent_tx_id = a.tx_id and t.is_held
         where a.client_id = p.client_id and a.chain = p.chain and a.created_at > clock_timestamp() - interval '24 hours'
           and a.tx_id is distinct from $4
      ) <= p.gas_per_day as is_within
       from x402_policies p where p.client_id = $1 and p.chain = $2`,
    [clientId, chain, gasBound.toString(), txId ?? null],
  );
  if (!row?.is_enabled) return 'disabled';
  return row.is_within ? 'within' : 'exhausted';
}
