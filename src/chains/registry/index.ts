import type { ChainDefinition, ChainFamily, GatewayEnvironment, TokenDefinition } from '../types';
import { ConfigError } from '../../platform/config';
import { getChains } from './data';

/** The enabled chains of one environment. */
export class ChainRegistry {
  private readonly byName: ReadonlyMap<string, ChainDefinition>;

  constructor(chains: ChainDefinition[]) {
    this.byName = new Map(chains.map((chain) => [chain.name, chain]));
  }

  get all(): ChainDefinition[] {
    return [...this.byName.values()];
  }

  find(name: string): ChainDefinition | undefined {
    return this.byName.get(name);
  }

  findByCaip2(caip2: string): ChainDefinition | undefined {
    return this.all.find((chain) => chain.caip2 === caip2);
  }

  /** For names from the gateway's own rows. @throws Error for a chain that is not enabled. */
  get(name: string): ChainDefinition {
    const chain = this.byName.get(name);
    if (!chain) throw new Error(`chain ${name} is not enabled`);
    return chain;
  }

  ofFamily(family: ChainFamily): ChainDefinition[] {
    return this.all.filter((chain) => chain.family === family);
  }
}

/** The native coin or a registered token of a chain, by symbol. */
export function tokenBySymbol(chain: ChainDefinition, symbol: string): TokenDefinition | undefined {
  return chain.native.symbol === symbol ? chain.native : chain.tokens.find((token) => token.symbol === symbol);
}

/** The native coin (null) or a registered token by contract, in any letter case. */
export function tokenByContract(chain: ChainDefinition, contract: string | null): TokenDefinition | undefined {
  if (contract === null) return chain.native;
  const key = contract.toLowerCase();
  return chain.tokens.find((token) => token.contract?.toLowerCase() === key);
}

/** @throws ConfigError naming a chain that the environment's profile does not have. */
export function loadRegistry(environment: GatewayEnvironment, enabled: string[]): ChainRegistry {
  const profile = getChains(environment);
  return new ChainRegistry(
    enabled.map((name) => {
      const chain = profile.find((candidate) => candidate.name === name);
      if (!chain)
        throw new ConfigError(
          `CHAINS names ${name}, which the ${environment} profile does not have (it has ${profile.map((c) => c.name).join(', ')})`,
        );
      return chain;
    }),
  );
}
