import type { ChainDefinition } from '../../src/chains/types';
import { toyFamily } from './family';

export const toyChain = (changes: Partial<ChainDefinition> = {}): ChainDefinition => ({
  name: 'toychain',
  family: toyFamily.name,
  network: 'local',
  caip2: 'toy:1',
  genesisHash: null,
  native: { symbol: 'TOY', name: 'Toy coin', decimals: 3, assetType: 'NATIVE', contract: null },
  tokens: [],
  confirmations: 2,
  finalityDepth: 4,
  blockTimeMs: 100,
  stuckAfterMs: 60_000,
  maxNetworkFee: 1_000n,
  explorerTx: null,
  ...changes,
});
