import type { ChainDefinition } from '../types';

/** Bytes and addresses are the same on every cluster: what a cluster signs is a family of its own. */
export interface SolanaNetwork {
  /** Name of the family. */
  family: string;
  /** CAIP-2 (namespace solana): the first 32 letters of the hash of the genesis block. */
  caip2: string;
}

const mainnet: SolanaNetwork = { family: 'solana', caip2: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' };
const devnet: SolanaNetwork = { family: 'solana-devnet', caip2: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1' };
/** A chain on one machine, with a genesis of its own and the name of mainnet: clients of x402 know no other. */
export const local: SolanaNetwork = { family: 'solana-local', caip2: mainnet.caip2 };

export const networks: readonly SolanaNetwork[] = [mainnet, devnet, local];

/** @throws Error for a chain of another family. */
export function networkOf({ family: name, name: chain }: Pick<ChainDefinition, 'family' | 'name'>): SolanaNetwork {
  const network = networks.find(({ family }) => family === name);
  if (!network) throw new Error(`${chain} is no Solana chain`);
  return network;
}
