import { readRpcUrls } from './config';
import { EvmChainClient } from './evm/client';
import { evmFamily } from './evm/family';
import type { ChainClient } from './family';
import type { ChainRegistry } from './registry';
import type { ChainDefinition, ChainFamily } from './types';

type CreateClient = (chain: ChainDefinition, urls: readonly string[]) => ChainClient;

const clients: ReadonlyMap<ChainFamily, CreateClient> = new Map([
  [evmFamily.name, (chain: ChainDefinition, urls: readonly string[]) => new EvmChainClient(chain, urls)],
]);

export function createChainClient(chain: ChainDefinition, urls: readonly string[]): ChainClient {
  const create = clients.get(chain.family);
  if (!create) throw new Error(`there is no client for the chain family ${chain.family}`);
  return create(chain, urls);
}

/** A client for every enabled chain, by chain name. @throws ConfigError for missing or malformed urls. */
export function createChainClients(registry: ChainRegistry, env: NodeJS.ProcessEnv = process.env): Map<string, ChainClient> {
  const urls = readRpcUrls(
    registry.all.map(({ name }) => name),
    env,
  );
  return new Map(registry.all.map((chain) => [chain.name, createChainClient(chain, urls.get(chain.name) as string[])]));
}
