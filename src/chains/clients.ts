import { BitcoinChainClient } from './bitcoin/client';
import { bitcoinFamilies } from './bitcoin/family';
import { hasRpcUrls, readRpcUrls } from './config';
import { EvmChainClient } from './evm/client';
import { evmFamily } from './evm/family';
import { EvmPaymentClient } from './evm/payments/client';
import { Endpoints } from './evm/rpc';
import type { ChainClient, ImpossibilityProver } from './chain-client';
import type { PaymentClient } from './payments';
import type { ChainRegistry } from './registry';
import { Paces } from './request-rate';
import { SolanaChainClient } from './solana/client';
import { solanaFamilies } from './solana/family';
import { SolanaPaymentClient } from './solana/payments/client';
import { TronChainClient } from './tron/client';
import { tronFamilies } from './tron/family';
import type { ChainDefinition, ChainFamily } from './types';

type Create<T, More extends unknown[] = []> = (chain: ChainDefinition, urls: readonly string[], ...more: More) => T;

interface FamilyClients {
  /** `Paces`: of endpoints that grant a number of requests a second. */
  chain: Create<ChainClient, [Paces]>;
  /** Absent in a family without payments that others have signed. */
  payments?: Create<PaymentClient>;
  /** Absent in a family that reissues nothing. */
  prover?: Create<ImpossibilityProver>;
}

const clients: ReadonlyMap<ChainFamily, FamilyClients> = new Map<ChainFamily, FamilyClients>([
  [
    evmFamily.name,
    {
      chain: (chain: ChainDefinition, urls: readonly string[]) => new EvmChainClient(chain, urls),
      payments: (chain: ChainDefinition, urls: readonly string[]) => new EvmPaymentClient(chain, new Endpoints(chain, urls)),
    },
  ],
  ...bitcoinFamilies.map(({ name }): [ChainFamily, FamilyClients] => [
    name,
    { chain: (chain, urls) => new BitcoinChainClient(chain, urls) },
  ]),
  ...tronFamilies.map(({ name }): [ChainFamily, FamilyClients] => [
    name,
    {
      chain: (chain: ChainDefinition, urls: readonly string[], paces: Paces) => new TronChainClient(chain, urls, Date.now, paces),
      prover: (chain: ChainDefinition, urls: readonly string[]) => new TronChainClient(chain, urls),
    },
  ]),
  ...solanaFamilies.map(({ name }): [ChainFamily, FamilyClients] => [
    name,
    {
      chain: (chain: ChainDefinition, urls: readonly string[], paces: Paces) => new SolanaChainClient(chain, urls, paces),
      payments: (chain: ChainDefinition, urls: readonly string[]) => new SolanaPaymentClient(chain, urls),
      prover: (chain: ChainDefinition, urls: readonly string[]) => new SolanaChainClient(chain, urls),
    },
  ]),
]);

function createChainClient(chain: ChainDefinition, urls: readonly string[], paces: Paces): ChainClient {
  const family = clients.get(chain.family);
  if (!family) throw new Error(`there is no client for the chain family ${chain.family}`);
  return family.chain(chain, urls, paces);
}

/** The client of one chain, with the urls of the environment. @throws ConfigError for missing or malformed urls. */
export const readChainClient = (chain: ChainDefinition, env: NodeJS.ProcessEnv = process.env): ChainClient =>
  createChainClient(chain, readRpcUrls([chain.name], env).get(chain.name) as string[], new Paces());

/**
 * Clients for transfers and others for followers, for every enabled chain, by its name. Each has connections, queues and limits of its own,
 * so that a scan of many blocks delays no transfer, nor many transfers a scan. Where an endpoint counts requests, those of the two take turns.
 * @throws ConfigError for missing or malformed urls.
 */
export function createWorkerClients(
  registry: ChainRegistry,
  env: NodeJS.ProcessEnv = process.env,
): Record<'transfers' | 'followers', Map<string, ChainClient>> {
  const paces = new Paces();
  const chains = withUrls(registry, env);
  const create = () => new Map(chains.map(({ chain, urls }) => [chain.name, createChainClient(chain, urls, paces)]));
  return { transfers: create(), followers: create() };
}

/** By chain name; chains of families without payments are missing. @throws ConfigError for missing or malformed urls. */
export function createPaymentClients(registry: ChainRegistry, env: NodeJS.ProcessEnv = process.env): Map<string, PaymentClient> {
  return new Map(
    withUrls(registry, env).flatMap(({ chain, urls }) => {
      const client = clients.get(chain.family)?.payments?.(chain, urls);
      return client ? [[chain.name, client] as const] : [];
    }),
  );
}

/**
 * For a signing node, by chain name: of the chains that reissue attempts, those for which it has urls.
 * @throws ConfigError for malformed urls.
 */
export function createProvers({ all }: ChainRegistry, env: NodeJS.ProcessEnv = process.env): Map<string, ImpossibilityProver> {
  return new Map(
    all.flatMap((chain) => {
      const create = hasRpcUrls(chain.name, env) ? clients.get(chain.family)?.prover : undefined;
      const urls = () => readRpcUrls([chain.name], env).get(chain.name) as string[];
      return create ? [[chain.name, create(chain, urls())] as const] : [];
    }),
  );
}

function withUrls({ all }: ChainRegistry, env: NodeJS.ProcessEnv): { chain: ChainDefinition; urls: string[] }[] {
  const urls = readRpcUrls(
    all.map(({ name }) => name),
    env,
  );
  return all.map((chain) => ({ chain, urls: urls.get(chain.name) as string[] }));
}
