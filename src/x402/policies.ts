import type { EntityManager } from 'typeorm';
import { setBounded } from '../platform/bounded';
import { CachedValue } from '../platform/cached-value';

/** What the house pays for a client on a chain; amounts in atomic units of its native coin in 24 hours. */
export interface X402Policy {
  /** The client may have payments settled. */
  isEnabled: boolean;
  /** null: no limit. */
  gasPerDay: bigint | null;
  sponsorsPermit: boolean;
  sponsorsApproval: boolean;
  topUpPerDay: bigint;
  /** Contracts (canonical form) that are called to create payers' wallets. */
  walletFactories: string[];
  /** Failed payments of one payer in an hour; null: no limit. */
  failuresPerPayer: number | null;
}

/** The same, with what is read along with it. */
export interface ReadPolicy extends X402Policy {
  /** Payments of some payer have failed on the chain within the last hour. */
  hasFailures: boolean;
}

/** Of a client that no operator has enabled. */
export const noPolicy: X402Policy = {
  isEnabled: false,
  gasPerDay: null,
  sponsorsPermit: false,
  sponsorsApproval: false,
  topUpPerDay: 0n,
  walletFactories: [],
  failuresPerPayer: 5,
};

interface PolicyRow {
  chain: string;
  is_enabled: boolean;
  gas_per_day: string | null;
  sponsors_permit: boolean;
  sponsors_approval: boolean;
  top_up_per_day: string;
  wallet_factories: string[];
  failures_per_payer: number | null;
  has_failures: boolean;
}

/** A client's policies by chain name; a chain without one is missing. */
export async function readPolicies(manager: EntityManager, clientId: string): Promise<Map<string, ReadPolicy>> {
  const rows = await manager.query<PolicyRow[]>(
    `select chain, is_enabled, gas_per_day, sponsors_permit, sponsors_approval, top_up_per_day, wallet_factories,
            failures_per_payer,
            exists (select from x402_failures f where (f.client_id, f.chain) = (p.client_id, p.chain)
                      and f.failed_at > clock_timestamp() - interval '1 hour') as has_failures
       from x402_policies p where client_id = $1`,
    [clientId],
  );
  return new Map(rows.map((row) => [row.chain, toPolicy(row)]));
}

const toPolicy = (row: PolicyRow): ReadPolicy => ({
  isEnabled: row.is_enabled,
  gasPerDay: row.gas_per_day === null ? null : BigInt(row.gas_per_day),
  sponsorsPermit: row.sponsors_permit,
  sponsorsApproval: row.sponsors_approval,
  topUpPerDay: BigInt(row.top_up_per_day),
  walletFactories: row.wallet_factories,
  failuresPerPayer: row.failures_per_payer,
  hasFailures: row.has_failures,
});

/** Payments are checked against what was read so long ago; a settlement looks again when it is accepted. */
const maxAgeMs = 3_000;
const maxClients = 10_000;

/** The policies of the clients that have asked last, in memory. */
export class CachedPolicies {
  private readonly byClient = new Map<string, CachedValue<Map<string, ReadPolicy>>>();

  /** By chain name. */
  ofClient(manager: EntityManager, clientId: string): Promise<ReadonlyMap<string, ReadPolicy>> {
    const known = this.byClient.get(clientId);
    const cached = known ?? new CachedValue((reader) => readPolicies(reader, clientId), maxAgeMs);
    if (!known) setBounded(this.byClient, clientId, cached, maxClients);
    return cached.get(manager);
  }
}
