import type { ChainDefinition, GatewayEnvironment, TokenDefinition } from '../types';

const coin: TokenDefinition = { symbol: 'TRX', name: 'TRON', decimals: 6, assetType: 'NATIVE', contract: null };
const token = (symbol: string, name: string, contract: string): TokenDefinition => ({
  ...{ symbol, name, contract },
  decimals: 6,
  assetType: 'TRC20',
});

/** Tether: DEFAULT_TOKENS of github.com/tetherto/wdk-mcp-toolkit, src/server.js, read in November 2026. */
const usdt = token('USDT', 'Tether USD', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t');
/**
 * Circle does not issue it on TRON any more (developers.circle.com, "Supported chains and currencies": support ended from 20 February
 * 2024) and does not list its address: it is a token of the local chain alone, where the simulator has it.
 */
const usdc = token('USDC', 'USD Coin', 'TEkxiTehnzSmSe2XqrBj4w32RUN966rdz8');

/**
 * Only solidified blocks are looked at: more than two thirds of the 27 producers have built on them (TRON's documents, "Consensus"), about
 * 19 blocks or a minute after they were made. So inclusion is final, and depth 1 confirms; refunds and proofs of expiry wait another
 * minute, which also covers backends of one endpoint that are not equally far. `stuckAfterMs`: twice the time until a block is solidified.
 * `maxNetworkFee`: the energy of seven transfers of USDT to new holders, which take 130,000 each at 100 sun. `highestFeeLevels`: seven times what
 * the network's committee asks in November 2026, in sun; a unit of energy has cost 420 at most. `requiresTraces`: java-tron saves internal
 * transactions where it is told to.
 */
const common = {
  name: 'tron',
  native: coin,
  confirmations: 1,
  finalityDepth: 20,
  blockTimeMs: 3_000,
  requiresTraces: true,
  headLag: 19,
  stuckAfterMs: 120_000,
  maxNetworkFee: 100_000_000n,
  highestFeeLevels: { bandwidthPrice: '7000', energyPrice: '700', newAccountFee: '7700000', memoFee: '7000000' },
} satisfies Partial<ChainDefinition>;

/** Ids of block 0 as in tronprotocol/documentation-en and namespace tron of CAIP-2, whose chain ids are their last four bytes. */
export const tron: Record<GatewayEnvironment, ChainDefinition[]> = {
  production: [
    {
      ...common,
      family: 'tron',
      network: 'mainnet',
      caip2: 'tron:728126428',
      genesisHash: '00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc',
      tokens: [usdt],
      explorerTx: 'https://tronscan.org/#/transaction/{hash}',
    },
  ],
  /** Neither Tether nor Circle publishes test tokens here. */
  sandbox: [
    {
      ...common,
      family: 'tron-nile',
      network: 'nile',
      caip2: 'tron:3448148188',
      genesisHash: '0000000000000000d698d4192c56cb6be724a558448e2684802de4d6cd8690dc',
      tokens: [],
      explorerTx: 'https://nile.tronscan.org/#/transaction/{hash}',
    },
  ],
  /** A simulator with a block every second. */
  local: [
    {
      ...common,
      family: 'tron-local',
      network: 'local',
      caip2: 'tron:local',
      genesisHash: null,
      tokens: [usdt, usdc],
      finalityDepth: 3,
      blockTimeMs: 1_000,
      // as dev/tron-chain.ts starts it
      headLag: 4,
      stuckAfterMs: 60_000,
      explorerTx: null,
    },
  ],
};
