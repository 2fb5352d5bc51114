import type { ChainRegistry } from '../../chains/registry';
import type { ChainDefinition } from '../../chains/types';
import { networksV1 } from '../networks';
import type { Reason } from '../reasons';

type Found = { chain: ChainDefinition } | { reason: Reason };

/** Version 2 writes CAIP-2 only; version 1 its own names, and here also the gateway's names of chains and CAIP-2. */
export function findNetwork(network: string, version: 1 | 2, registry: ChainRegistry): Found {
  const caip2 = version === 1 && Object.hasOwn(networksV1, network) ? (networksV1[network] as string) : network;
  // on test networks the gateway's name of a chain is the official one of its main network, which is not enabled there
  const chain = registry.findByCaip2(caip2) ?? (version === 1 ? registry.find(network) : undefined);
  if (chain) return { chain };
  // the protocol has schemes of Solana's own
  return { reason: caip2.startsWith('solana:') ? 'unsupported_scheme' : 'invalid_network' };
}
