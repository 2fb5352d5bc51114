/** Registry and adapter shapes. Pure types and data: workflows may import this file. */

export type Hex = `0x${string}`;
export type ChainFamily = 'evm';
export type GatewayEnvironment = 'production' | 'sandbox' | 'local';
export type AssetType = 'NATIVE' | 'ERC20' | 'BEP20' | 'TRC20' | 'SPL';

export interface TokenDefinition {
  symbol: string;
  name: string;
  decimals: number;
  assetType: AssetType;
  /** Canonical (EIP-55) contract address; null for the native coin. */
  contract: string | null;
}

/** One chain of one environment. Data, not code: chains differ here and nowhere else. */
export interface ChainDefinition {
  /** Name in the API: ethereum, bsc, … */
  name: string;
  family: ChainFamily;
  /** Shown as `network`: mainnet, sepolia, local, … */
  network: string;
  /** CAIP-2, such as eip155:1. */
  caip2: string;
  chainId: number;
  /** Hash of block 0, checked beside the chain id; null for local chains, whose genesis is made at every start. */
  genesisHash: string | null;
  native: TokenDefinition;
  tokens: TokenDefinition[];
  /** Depth at which a transfer counts as confirmed and a deposit is credited; inclusion is depth 1. */
  confirmations: number;
  /** Depth the follower keeps watching to after confirmation. */
  finalityDepth: number;
  blockTimeMs: number;
  /** Rollups that charge an L1 data fee beside gas (GasPriceOracle predeploy). */
  l1DataFee: boolean;
  /** Gas that estimates of this chain contain beside execution (rollups that charge L1 data in gas units); 0 when absent. */
  gasOverhead?: number;
  /** After this long without inclusion a transfer is replaced at a higher fee. */
  stuckAfterMs: number;
  /** e.g. https://etherscan.io/tx/{hash}; null for local chains. */
  explorerTx: string | null;
}

/** What a node or a reader sees of an unsigned transaction, decoded from its bytes alone. */
export interface TransactionDescription {
  chainId: number;
  nonce: number;
  /** The party that receives value or tokens, canonical form. */
  recipient: string;
  /** null: native coin. */
  tokenContract: string | null;
  /** Atomic units. */
  amount: bigint;
  /** gas limit × highest fee per gas, atomic units of the native coin; L1 data fee not included (it is not in the bytes). */
  maxNetworkFee: bigint;
}

/** Fee levels of a chain as last seen by its follower; atomic units of the native coin per gas. */
export interface FeeLevels {
  baseFee: bigint | null;
  priorityFee: bigint | null;
  /** Legacy gas price, for chains without EIP-1559. */
  gasPrice: bigint;
  /** Upper estimate of the L1 data fee of one transfer; 0 where there is none. */
  l1DataFee: bigint;
}

/** Effect of an included transaction, judged from the chain. */
export interface InclusionEffect {
  blockNumber: number;
  blockHash: string;
  /** The chain executed it without revert. */
  success: boolean;
  /** Atomic units of the native coin, L1 data fee included. */
  fee: bigint;
  /** Native: the value; token: what left the sender by its Transfer event; null when no such event exists. */
  debited: bigint | null;
  /** What the recipient got by the event (less than debited for fee-on-transfer tokens). */
  received: bigint | null;
}

export type TransactionStatusOnChain =
  | { state: 'absent' }
  | { state: 'pending' }
  | { state: 'included'; depth: number; effect: InclusionEffect }
  /** Another transaction consumed the nonce at finality depth. */
  | { state: 'impossible'; proof: string };

/** One incoming movement found in a block. */
export interface DepositFound {
  txHash: string;
  /** EVM: 0 is the transaction's own value, log index within the receipt + 1 for token events. */
  position: number;
  blockNumber: number;
  blockHash: string;
  fromAddress: string;
  toAddress: string;
  /** null: native coin. */
  tokenContract: string | null;
  amount: bigint;
}

/** Why an attempt was made. `cancellation`: a transaction that moves nothing uses up the nonce of the earlier attempts. */
export type AttemptKind = 'first' | 'replacement' | 'cancellation';
