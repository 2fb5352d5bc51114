import type { ChainDefinition, GatewayEnvironment, TokenDefinition } from '../types';

const coin: TokenDefinition = { symbol: 'SOL', name: 'Solana', decimals: 9, assetType: 'NATIVE', contract: null };
const token = (symbol: string, name: string, contract: string): TokenDefinition => ({
  ...{ symbol, name, contract },
  decimals: 6,
  assetType: 'SPL',
});

/** Mints of Circle: developers.circle.com/stablecoins/usdc-contract-addresses, read in November 2026. */
const usdc = token('USDC', 'USD Coin', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v');
const devnetUsdc = token('USDC', 'USD Coin', '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU');
/** Tether: DEFAULT_TOKENS of github.com/tetherto/wdk-mcp-toolkit, src/server.js, read in November 2026. */
const usdt = token('USDT', 'Tether USD', 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB');

/**
 * Only finalized blocks are looked at: more than two thirds of the stake have voted for 31 blocks on top of them, about 13 seconds (Solana's
 * documents, "Commitment status"), or have certified them, which is sooner (Alpenglow, on mainnet since October 2026). So inclusion is final, and
 * depth 1 confirms; refunds and proofs of expiry wait for another 32 slots, which also covers backends of one endpoint that are not equally far.
 * `blockTimeMs`: the longest, of 200 to 400 (SIMD-0525). `stuckAfterMs`: as long as a block hash may be valid, 150 blocks. `maxNetworkFee`: twice
 * the dearest message, which costs 0.0042 SOL.
 */
const common = {
  name: 'solana',
  native: coin,
  confirmations: 1,
  finalityDepth: 32,
  blockTimeMs: 400,
  headLag: 31,
  stuckAfterMs: 60_000,
  maxNetworkFee: 10_000_000n,
} satisfies Partial<ChainDefinition>;

/** Hashes of the genesis blocks as in namespace solana of CAIP-2, whose chain ids are their first 32 letters. */
export const solana: Record<GatewayEnvironment, ChainDefinition[]> = {
  production: [
    {
      ...common,
      family: 'solana',
      network: 'mainnet',
      caip2: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
      genesisHash: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
      tokens: [usdc, usdt],
      explorerTx: 'https://explorer.solana.com/tx/{hash}',
    },
  ],
  /** Tether publishes no test token here. */
  sandbox: [
    {
      ...common,
      family: 'solana-devnet',
      network: 'devnet',
      caip2: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
      genesisHash: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG',
      tokens: [devnetUsdc],
      explorerTx: 'https://explorer.solana.com/tx/{hash}?cluster=devnet',
    },
  ],
  /** With the mints and the id of mainnet, since clients of x402 have these built in; a node of mainnet itself is refused by its genesis block. */
  local: [
    {
      ...common,
      family: 'solana-local',
      network: 'local',
      caip2: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
      genesisHash: null,
      // slower than the network's, since following each block takes processor time of the machine that runs everything
      blockTimeMs: 1_000,
      // as dev/solana-chain.ts starts it
      headLag: 4,
      stuckAfterMs: 150_000,
      tokens: [usdc, usdt],
      finalityDepth: 3,
      explorerTx: null,
    },
  ],
};
