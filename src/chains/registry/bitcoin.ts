import type { ChainDefinition, GatewayEnvironment, TokenDefinition } from '../types';

const coin: TokenDefinition = { symbol: 'BTC', name: 'Bitcoin', decimals: 8, assetType: 'NATIVE', contract: null };
const minute = 60_000;

/** Reads the hash of block 0 and names the chain by its first half (CAIP-2, namespace bip122). */
const identify = (genesisHash: string) => ({ genesisHash, caip2: `bip122:${genesisHash.slice(0, 32)}` });

/** Satoshis per virtual byte while no node estimates. Blocks of the test networks are hardly ever full. */
const fallbackRate = (rate: number) => ({ fallbackFeeLevels: { rate: rate.toString() } });

/**
 * No reorganisation of six blocks was seen since March 2013 (24 blocks, after a faulty release); three are customary for amounts as they
 * are usual here. Finality is at twice six. Six blocks without inclusion: the fee was too low. `maxNetworkFee`: 64 inputs at 450
 * satoshis per virtual byte, or one input at 14,000.
 */
const common = {
  name: 'bitcoin',
  native: coin,
  tokens: [],
  confirmations: 3,
  finalityDepth: 12,
  blockTimeMs: 10 * minute,
  stuckAfterMs: 60 * minute,
  maxNetworkFee: 2_000_000n,
} satisfies Partial<ChainDefinition>;

/** Genesis hashes as in Bitcoin Core, src/kernel/chainparams.cpp. */
export const bitcoin: Record<GatewayEnvironment, ChainDefinition[]> = {
  production: [
    {
      ...common,
      ...identify('000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f'),
      ...fallbackRate(20),
      family: 'bitcoin',
      network: 'mainnet',
      explorerTx: 'https://mempool.space/tx/{hash}',
    },
  ],
  sandbox: [
    {
      ...common,
      ...identify('00000008819873e925422c1ff0f99f7cc9bbb232af63a077a480a3633bee1ef6'),
      ...fallbackRate(2),
      family: 'bitcoin-signet',
      network: 'signet',
      explorerTx: 'https://mempool.space/signet/tx/{hash}',
    },
    /**
     * Blocks of minimum difficulty are allowed 20 minutes after the last one (BIP-94): miners find many of them at once, and several
     * in a row are often reorganised away. Six confirmations take an hour, hence nine blocks until a transfer counts as stuck.
     */
    {
      ...common,
      ...identify('00000000da84f2bafbbc53dee25a72ae507ff4914b867c565be350b0da8bf043'),
      ...fallbackRate(2),
      name: 'bitcoin-testnet4',
      family: 'bitcoin-testnet4',
      network: 'testnet4',
      confirmations: 6,
      finalityDepth: 36,
      stuckAfterMs: 90 * minute,
      explorerTx: 'https://mempool.space/testnet4/tx/{hash}',
    },
  ],
  /** Regtest, with a block every two seconds and shallow depths. */
  local: [
    {
      ...common,
      ...identify('0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206'),
      ...fallbackRate(2),
      family: 'bitcoin-regtest',
      network: 'local',
      confirmations: 2,
      finalityDepth: 6,
      blockTimeMs: 2_000,
      stuckAfterMs: 30_000,
      explorerTx: null,
    },
  ],
};
