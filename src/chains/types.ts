/** Registry and adapter shapes. Pure types and data: workflows may import this file. */

export type Hex = `0x${string}`;
/** Name of a family in the table of src/chains/families.ts. Text, so that tests can serve chains of a family of their own. */
export type ChainFamily = string;
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue;
}
/** Threshold protocol of a key. */
export type KeyProtocol = 'ecdsa-secp256k1';
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
  /** CAIP-2, such as eip155:1: what tells chains apart in stored rows and in signed bytes. */
  caip2: string;
  /** Hash of block 0, checked beside the chain's id; null for local chains, whose genesis is made at every start. */
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
  /**
   * No transaction may cost more than this, whatever is held for it; atomic units of the native coin. Checked by the authoriser
   * and by every node.
   */
  maxNetworkFee: bigint;
  /** e.g. https://etherscan.io/tx/{hash}; null for local chains. */
  explorerTx: string | null;
}

/** One payment of a transaction. */
export interface TransactionOutput {
  /** Who receives value or tokens, as addresses are shown. */
  recipient: string;
  /** null: native coin. */
  tokenContract: string | null;
  /** Atomic units. */
  amount: bigint;
}

/** What a transaction is to do. */
export interface TransactionIntent {
  /** Address that the money leaves, as shown. */
  from: string;
  outputs: TransactionOutput[];
}

/** What a node or a reader sees of an unsigned transaction, decoded from its bytes alone. */
export interface TransactionDescription {
  /** CAIP-2 of the only chain that would execute the bytes. */
  chain: string;
  /** Change back to the sender left out. */
  outputs: TransactionOutput[];
  /** Highest network fee that the bytes allow, atomic units of the native coin. */
  maxNetworkFee: bigint;
  /** When the bytes stop being executable by themselves, seconds since the epoch; left out where time does not decide it. */
  expiresAt?: number;
  /** What the bytes use up, as reservations name it (a nonce, inputs); empty where a family reserves nothing. */
  resources: string[];
}

/** Fee levels of a chain as last seen by its follower, in the family's own form. */
export type FeeLevels = JsonObject;

/** Facts gathered from the chain before an attempt is begun. Travels through workflow histories. */
export interface Prepared {
  /** Highest network fee of the attempt, everything included; atomic units of the native coin, decimal digits. */
  feeBound: string;
  /** When the attempt stops being executable, in the family's own terms; null: never by itself. */
  expiry: JsonObject | null;
  /** The family's own: nobody else looks into it. */
  details: JsonValue;
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

/** One incoming payment found in a block. */
export interface DepositFound {
  txHash: string;
  /** Place within the transaction, in the chain's own terms. */
  position: string;
  blockNumber: number;
  blockHash: string;
  fromAddress: string;
  toAddress: string;
  /** null: native coin. */
  tokenContract: string | null;
  amount: bigint;
}

/**
 * Why an attempt was made. `replacement`: the same resources at a higher fee; `reissue`: a new transaction after every earlier one
 * was proven impossible; `cancellation`: a transaction that moves nothing uses up the resources of the earlier attempts.
 */
export type AttemptKind = 'first' | 'replacement' | 'reissue' | 'cancellation';

/** How transfers of a family are helped on; workflows branch on this and never on a family's name. */
export interface FamilyRules {
  /** Not included in time: a replacement at a higher fee, or the same bytes once more. */
  stuck: 'replace' | 'rebroadcast';
  /** Proven impossible: issued anew, or an operator is asked. */
  expired: 'reissue' | 'park';
  /** Given up by an operator: a cancellation uses up the resources, or the transaction's expiry is waited for. */
  giveUp: 'cancel' | 'expiry';
}
