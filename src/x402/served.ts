import type { DataSource } from 'typeorm';
import type { OwnAddresses } from '../accounts/own-addresses';
import type { PaymentClient } from '../chains/payments';
import type { ChainRegistry } from '../chains/registry';
import type { ChainDefinition } from '../chains/types';
import { AttestedSettlers, type Settler } from '../settlers/attested';
import { CachedPolicies, type ReadPolicy } from './policies';

export interface ServedDependencies {
  database: DataSource;
  registry: ChainRegistry;
  /** By chain name. */
  payments: ReadonlyMap<string, PaymentClient>;
  addresses: OwnAddresses;
}

/** A chain on which payments of a client are settled now. */
export interface ServedChain {
  chain: ChainDefinition;
  payments: PaymentClient;
  policy: ReadPolicy;
  /** The primary one first. */
  settlers: Settler[];
}

/**
 * Which chains are served to a client: it has to be allowed to have payments settled there, and a settler has to take them. Both as
 * they were at most 3 seconds ago.
 */
export class ServedChains {
  private readonly settlers: AttestedSettlers;
  private readonly policies = new CachedPolicies();

  constructor(private readonly deps: ServedDependencies) {
    this.settlers = new AttestedSettlers(deps.addresses);
  }

  /** null: it is not served. */
  async find(clientId: string, chain: ChainDefinition): Promise<ServedChain | null> {
    const { manager } = this.deps.database;
    const [policies, settlers] = await Promise.all([
      this.policies.ofClient(manager, clientId),
      this.settlers.ofChain(manager, chain.name),
    ]);
    const [policy, payments] = [policies.get(chain.name), this.deps.payments.get(chain.name)];
    const isServed = policy?.isEnabled && settlers.some(({ isActive }) => isActive);
    return isServed && payments ? { chain, payments, policy, settlers } : null;
  }

  /** In the order of the registry. */
  async all(clientId: string): Promise<ServedChain[]> {
    const found = await Promise.all(this.deps.registry.all.map((chain) => this.find(clientId, chain)));
    return found.filter((served) => served !== null);
  }
}
