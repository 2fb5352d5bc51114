import type { ChainClient } from './adapter';
import { readRpcUrls } from './config';
import { EvmChainClient } from './evm/client';
import type { ChainRegistry } from './registry';
import type { ChainDefinition, ChainFamily } from './types';

const clients: Record<ChainFamily, (chain: ChainDefinition, urls: readonly string[]) => ChainClient> = {
  evm: (chain, urls) => new EvmChainClient(chain, urls),
};

export function createChainClient(chain: ChainDefinition, urls: readonly string[]): ChainClient {
  return clients[chain.family](chain, urls);
}

/** A client for every enabled chain, by chain name. @throws ConfigError for missing or malformed urls. */
export function createChainClients(registry: ChainRegistry, env: NodeJS.ProcessEnv = process.env): Map<string, ChainClient> {
  const urls = readRpcUrls(
    registry.all.map(({ name }) => name),
    env,
  );
  return new Map(registry.all.map((chain) => [chain.name, createChainClient(chain, urls.get(chain.name) as string[])]));
}
