import type { AssetType, ChainDefinition, GatewayEnvironment, TokenDefinition } from '../types';
import { bitcoin } from './bitcoin';
import { genesisHashes } from './genesis';
import { solana } from './solana';
import { tron } from './tron';

/**
 * The chains of every environment. Each contract is listed with the text it was read in; a token whose address could not
 * be read in a text of its issuer, of the chain or of the chain's bridge is left out rather than guessed.
 *
 * Sources, named by the letters below, all read in the publisher's own text in November 2026:
 *  [C]  Circle: its SDK's chain definitions, npm @circle-fin/bridge-kit 1.15.1, and the tables of github.com/circlefin/skills
 *       (use-usdc); the same tables as developers.circle.com/stablecoins/usdc-contract-addresses
 *  [T]  Tether: "USDT Addresses" of github.com/tetherto/wdk-mcp-toolkit (README.md, src/server.js) and wdk.tokens.json of
 *       github.com/tetherto/wdk-cli
 *  [T0] USD₮0, "Deployments", docs.usdt0.to/technical-documentation/deployments: the contracts Tether's omnichain USDT took over
 *  [O]  Superchain Token List, ethereum-optimism/ethereum-optimism.github.io, data/USDC and data/USDT
 *  [P]  Polygon token lists, maticnetwork/polygon-token-list: polygonPopular.json and crossChain/bsc.json
 *  [B]  BNB Chain: bnb-chain/opbnb-bridge-tokens, opbnb.tokenlist.json (l1Address), and bnb-chain/canonical-bridge,
 *       packages/canonical-bridge-widget ("Getting Started")
 *  [X]  EIP-712 domains: the official x402 packages' tables of assets, npm @x402/evm 2.27.0 and x402 1.2.0
 */

const native = (symbol: string, name: string): TokenDefinition => ({
  symbol,
  name,
  decimals: 18,
  assetType: 'NATIVE',
  contract: null,
});
const ether = native('ETH', 'Ether');
const bnb = native('BNB', 'BNB');
/** The coin is called POL since September 2024; the API's symbol for it is MATIC. */
const matic = native('MATIC', 'Polygon Ecosystem Token');
const avax = native('AVAX', 'Avalanche');

function token(
  symbol: 'USDC' | 'USDT',
  contract: string,
  { decimals = 6, assetType = 'ERC20' }: { decimals?: number; assetType?: AssetType } = {},
): TokenDefinition {
  return { symbol, name: symbol === 'USDC' ? 'USD Coin' : 'Tether USD', decimals, assetType, contract };
}

/**
 * Circle's own USDC, which has EIP-3009 on every chain. `domainName` is that of its EIP-712 domain, which differs between chains;
 * left out where no text states it [X].
 */
function usdc(contract: string, domainName?: 'USD Coin' | 'USDC'): TokenDefinition {
  return {
    ...token('USDC', contract),
    takesAuthorisations: true,
    ...(domainName && { domain: { name: domainName, version: '2' } }),
  };
}

const minute = 60_000;
/** Wei. */
const gwei = (amount: bigint): bigint => amount * 10n ** 9n;
/** Of base fee and gas price, and of the tip; wei per gas. */
const highestFees = (price: bigint, tip: bigint) => ({ gasPrice: price.toString(), priorityFee: tip.toString() });
/** In thousandths of a native coin. */
const milli = (amount: bigint): bigint => amount * 10n ** 15n;

/**
 * Chains of the OP Stack. A few unsafe blocks of the single sequencer have been lost before; 10 are 20 s. Final with the L1, about 20
 * minutes: 600.
 */
const opStack = {
  native: ether,
  confirmations: 10,
  finalityDepth: 600,
  blockTimeMs: 2_000,
  chargesForData: true,
  requiresTraces: true,
  stuckAfterMs: minute,
  maxNetworkFee: milli(50n),
  highestFeeLevels: highestFees(gwei(500n), gwei(100n)),
};

/**
 * Properties of a chain that do not depend on the environment. Confirmations and finality are depths in blocks; the containing
 * block has depth 1. The confirmation depth limits the loss by an ordinary reorganisation; the follower stops watching at finality
 * depth. `maxNetworkFee` is the cost of 100,000 gas (more than a token transfer takes) at a price far above the usual ones: 2,500
 * gwei on ethereum, 500 on bsc and the rollups, 10,000 on avalanche, 200,000 on polygon. `highestFeeLevels` has the same price, and a
 * fifth of it as the tip: what a node reports above is taken for a fault of the node. `requiresTraces` where node software of the chain has
 * `trace_block` (Erigon, Nethermind, Reth and what is built on them): Nitro of arbitrum and AvalancheGo do not have it.
 */
const common = {
  /** 12 blocks are the customary depth (2.4 minutes); finality takes two epochs, up to three when votes are late: 96 slots. */
  ethereum: {
    native: ether,
    confirmations: 12,
    finalityDepth: 96,
    blockTimeMs: 12_000,
    requiresTraces: true,
    stuckAfterMs: 3 * minute,
    maxNetworkFee: milli(250n),
    highestFeeLevels: highestFees(gwei(2_500n), gwei(500n)),
  },
  /** Fast finality (BEP-126) is two blocks when validators vote; without votes 2/3 of 21 validators × 1 turn: 15, finality three rounds. */
  bsc: {
    native: bnb,
    confirmations: 15,
    finalityDepth: 64,
    blockTimeMs: 750,
    requiresTraces: true,
    stuckAfterMs: minute,
    maxNetworkFee: milli(50n),
    highestFeeLevels: highestFees(gwei(500n), gwei(100n)),
  },
  /**
   * Milestones finalise within seconds, but reorganisations of over a hundred blocks have happened (February 2023: 157); finality
   * is deeper. 64 blocks take more than two minutes, hence three until a transfer counts as stuck.
   */
  polygon: {
    native: matic,
    confirmations: 64,
    finalityDepth: 256,
    blockTimeMs: 2_000,
    requiresTraces: true,
    stuckAfterMs: 3 * minute,
    maxNetworkFee: milli(20_000n),
    highestFeeLevels: highestFees(gwei(200_000n), gwei(40_000n)),
  },
  /**
   * The sequencer's order is kept unless it fails before posting; 20 blocks are 5 s. Final with the batch on a finalised L1 block,
   * about 20 minutes: 4,800 blocks. Gas estimates contain the L1 data cost, which is why there is an overhead.
   */
  arbitrum: {
    native: ether,
    confirmations: 20,
    finalityDepth: 4_800,
    blockTimeMs: 250,
    stuckAfterMs: minute,
    maxNetworkFee: milli(50n),
    highestFeeLevels: highestFees(gwei(500n), gwei(100n)),
    estimateOverhead: 200_000,
  },
  optimism: opStack,
  /** Snowman accepts a block finally within two seconds; the rest is for nodes that lag behind each other. */
  avalanche: {
    native: avax,
    confirmations: 6,
    finalityDepth: 12,
    blockTimeMs: 1_500,
    stuckAfterMs: minute,
    maxNetworkFee: milli(1_000n),
    highestFeeLevels: highestFees(gwei(10_000n), gwei(2_000n)),
  },
  base: opStack,
} as const satisfies Record<string, Partial<ChainDefinition>>;

type ChainName = keyof typeof common;
interface Deployment {
  network: string;
  chainId: number;
  explorer: string;
  tokens: TokenDefinition[];
}

const production: Record<ChainName, Deployment> = {
  ethereum: {
    network: 'mainnet',
    chainId: 1,
    explorer: 'https://etherscan.io',
    tokens: [
      usdc('0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', 'USD Coin'), // [C] [O]
      token('USDT', '0xdAC17F958D2ee523a2206206994597C13D831ec7'), // [T] [C] [O]
    ],
  },
  bsc: {
    network: 'mainnet',
    chainId: 56,
    explorer: 'https://bscscan.com',
    // neither Circle nor Tether mints here: both are Binance-Peg tokens of the chain's own bridge, with 18 decimals
    tokens: [
      token('USDC', '0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d', { decimals: 18, assetType: 'BEP20' }), // [B] [P]
      token('USDT', '0x55d398326f99059fF775485246999027B3197955', { decimals: 18, assetType: 'BEP20' }), // [T] [B] [P]
    ],
  },
  polygon: {
    network: 'mainnet',
    chainId: 137,
    explorer: 'https://polygonscan.com',
    tokens: [
      usdc('0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359', 'USD Coin'), // [C]; not the bridged USDC.e, 0x2791…4174
      token('USDT', '0xc2132D05D31c914a87C6611C10748AEb04B58e8F'), // [T] [P] [T0]: the PoS bridge's token, now USD₮0
    ],
  },
  arbitrum: {
    network: 'mainnet',
    chainId: 42_161,
    explorer: 'https://arbiscan.io',
    tokens: [
      usdc('0xaf88d065e77c8cC2239327C5EDb3A432268e5831', 'USD Coin'), // [C]; not the bridged USDC.e, 0xFF97…5CC8
      token('USDT', '0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9'), // [T] [T0]
    ],
  },
  optimism: {
    network: 'mainnet',
    chainId: 10,
    explorer: 'https://optimistic.etherscan.io',
    tokens: [
      usdc('0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85'), // [C] [O]; not the bridged USDC.e, 0x7F5c…1607
      // The bridge's contract. USD₮0 has another one here (0x01bF…1071 in [T0]): two contracts cannot share a symbol, so deposits
      // of USD₮0 are not credited.
      token('USDT', '0x94b008aA00579c1307B0EF2c499aD98a8ce58e58'), // [T] [O]
    ],
  },
  avalanche: {
    network: 'mainnet',
    chainId: 43_114,
    explorer: 'https://snowtrace.io',
    tokens: [
      usdc('0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E', 'USD Coin'), // [C]; not the bridged USDC.e
      token('USDT', '0x9702230A8Ea53601f5cD2dc00fDBc13d4dF4A8c7'), // [T] [C]; not the bridged USDT.e
    ],
  },
  base: {
    network: 'mainnet',
    chainId: 8_453,
    explorer: 'https://basescan.org',
    tokens: [
      usdc('0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', 'USD Coin'), // [C] [O]
      token('USDT', '0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2'), // [T]: the standard bridge's token; Tether lists it, but does not mint here
    ],
  },
};

/** Official testnets. Tether publishes no test tokens, Circle none on BNB Chain. */
const sandbox: Record<ChainName, Deployment> = {
  ethereum: {
    network: 'sepolia',
    chainId: 11_155_111,
    explorer: 'https://sepolia.etherscan.io',
    tokens: [usdc('0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238')], // [C]
  },
  bsc: { network: 'testnet', chainId: 97, explorer: 'https://testnet.bscscan.com', tokens: [] },
  polygon: {
    network: 'amoy',
    chainId: 80_002,
    explorer: 'https://amoy.polygonscan.com',
    tokens: [usdc('0x41E94Eb019C0762f9Bfcf9Fb1E58725BfB0e7582', 'USDC')], // [C]
  },
  arbitrum: {
    network: 'sepolia',
    chainId: 421_614,
    explorer: 'https://sepolia.arbiscan.io',
    tokens: [usdc('0x75faf114eafb1BDbe2F0316DF893fd58CE46AA4d', 'USD Coin')], // [C]
  },
  optimism: {
    network: 'sepolia',
    chainId: 11_155_420,
    explorer: 'https://sepolia-optimism.etherscan.io',
    tokens: [usdc('0x5fd84259d66Cd46123540766Be93DFE6D43130D7')], // [C]
  },
  avalanche: {
    network: 'fuji',
    chainId: 43_113,
    explorer: 'https://testnet.snowtrace.io',
    tokens: [usdc('0x5425890298aed601595a70AB815c96711a31Bc65', 'USD Coin')], // [C]
  },
  base: {
    network: 'sepolia',
    chainId: 84_532,
    explorer: 'https://sepolia.basescan.org',
    tokens: [usdc('0x036CbD53842c5426634e7929541eC2318f3dCF7e', 'USDC')], // [C]
  },
};

function define(name: ChainName, { network, chainId, explorer, tokens }: Deployment): ChainDefinition {
  return {
    name,
    family: 'evm',
    network,
    caip2: `eip155:${chainId}`,
    genesisHash: genesisHashes[`eip155:${chainId}`] ?? null,
    ...common[name],
    tokens,
    explorerTx: `${explorer}/tx/{hash}`,
  };
}

/**
 * Development chains: the chain ids of production on local nodes, one-second blocks, shallow depths. The test tokens are at the
 * addresses of production, since clients of x402 have these built in, and have 6 decimals everywhere; their USDC has the domain
 * "USD Coin" (dev/contracts/TestUSDC.sol).
 */
function local(name: ChainName): ChainDefinition {
  const tokens = production[name].tokens.map((token) => ({
    ...token,
    decimals: 6,
    ...(token.takesAuthorisations && { domain: { name: 'USD Coin', version: '2' } }),
  }));
  return {
    ...define(name, { ...production[name], network: 'local', tokens }),
    genesisHash: null,
    confirmations: 2,
    finalityDepth: 6,
    blockTimeMs: 1_000,
    stuckAfterMs: 30_000,
    explorerTx: null,
  };
}

const names = Object.keys(common) as ChainName[];
const evmProfiles: Record<GatewayEnvironment, () => ChainDefinition[]> = {
  production: () => names.map((name) => define(name, production[name])),
  sandbox: () => names.map((name) => define(name, sandbox[name])),
  local: () => names.map(local),
};
/** The chains of the other families, in the order in which they are listed. */
const others = [bitcoin, tron, solana];

/** Every chain of the environment's profile, enabled or not. */
export function getChains(environment: GatewayEnvironment): ChainDefinition[] {
  return [...evmProfiles[environment](), ...others.flatMap((family) => family[environment])];
}
