/** Types of registry and families. Pure types and data: workflows may import this file. */

export type Hex = `0x${string}`;
/** Name of a family in the table of src/chains/families.ts. A string, so that tests can add families of their own. */
export type ChainFamily = string;
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue;
}
/** Threshold protocol of a key; what each is like is in key-protocols.ts. */
export type KeyProtocol = 'ecdsa-secp256k1' | 'frost-ed25519';
export type GatewayEnvironment = 'production' | 'sandbox' | 'local';
export const assetTypes = ['NATIVE', 'ERC20', 'BEP20', 'TRC20', 'SPL'] as const;
export type AssetType = (typeof assetTypes)[number];

export interface TokenDefinition {
  symbol: string;
  name: string;
  decimals: number;
  assetType: AssetType;
  /** Canonical (EIP-55) contract address; null for the native coin. */
  contract: string | null;
  /** The contract itself takes payments that their payer has signed and somebody else sends. */
  takesAuthorisations?: boolean;
  /** Name and version that signatures for the contract are made with, where a text that states them was found. */
  domain?: { name: string; version: string };
}

/** One chain of one environment. Differences between chains are data in this type only. */
export interface ChainDefinition {
  /** Name in the API: ethereum, bsc, … */
  name: string;
  family: ChainFamily;
  /** Shown as `network`: mainnet, sepolia, local, … */
  network: string;
  /** CAIP-2, such as eip155:1: identifies the chain in stored rows and in signed bytes. */
  caip2: string;
  /** Hash of block 0, checked in addition to the chain id; null for local chains, which get a new genesis at every start. */
  genesisHash: string | null;
  native: TokenDefinition;
  tokens: TokenDefinition[];
  /** Depth at which a transfer counts as confirmed and a deposit is credited; inclusion is depth 1. */
  confirmations: number;
  /** The follower watches for reorganisations down to this depth. */
  finalityDepth: number;
  blockTimeMs: number;
  /** Blocks that follow one before it is looked at, where only solidified or finalized ones are; absent: none. */
  headLag?: number;
  /** It charges for the data of a transaction in addition to its execution. */
  chargesForData?: boolean;
  /**
   * Blocks are scanned only at endpoints that trace them (on Tron: whose blocks show internal transactions, or nothing): else payments that
   * contracts pass on would not be found. Absent: blocks are scanned without where every endpoint says that it does not trace.
   */
  requiresTraces?: boolean;
  /** What its estimates contain in addition to execution, in the family's unit of execution; 0 when absent. */
  estimateOverhead?: number;
  /**
   * After this long without inclusion a transfer is replaced at a higher fee. Longer than a confirmation usually takes: whoever waits for one is
   * not told of the inclusion, and looks at the chain then.
   */
  stuckAfterMs: number;
  /**
   * No transaction may cost more than this, whatever is held for it; atomic units of the native coin. Checked by the authoriser
   * and by every node.
   */
  maxNetworkFee: bigint;
  /**
   * An answer of a node above these is not believed; in the family's own format of fee levels. Absent: the family has a limit of its own,
   * or none is needed.
   */
  highestFeeLevels?: FeeLevels;
  /** In place of fee levels while no node estimates, in the family's own format; absent where nodes always know them. */
  fallbackFeeLevels?: FeeLevels;
  /** e.g. https://etherscan.io/tx/{hash}; null for local chains. */
  explorerTx: string | null;
}

/** One payment of a transaction. */
export interface TransactionOutput {
  /** Recipient of value or tokens, in the form shown to clients. */
  recipient: string;
  /** null: native coin. */
  tokenContract: string | null;
  /** Atomic units. */
  amount: bigint;
}

/** What a transaction is to do. */
export interface TransactionIntent {
  /** The address that signs and pays the fee, in the form shown to clients. */
  from: string;
  outputs: TransactionOutput[];
  /** Where it is no payment from `from` to the outputs. */
  action?: IntentAction;
  /** What its first attempt spends, where that is not for the family to choose: small outputs of the sender, joined to one. */
  gather?: GatherRequest;
  /** A text that the chain shows to everybody, in families whose payments carry one. */
  memo?: string;
  /** The recipient may be an address of a program. */
  allowsProgram?: boolean;
}

/** Which outputs of an account are joined. */
export interface GatherRequest {
  maxInputs: number;
  /** Only smaller ones; atomic units of the native coin. */
  below: bigint;
}

export type IntentAction = SettlementAction | AuthorisationAction;

/** Carries out a payment to the outputs that its payer, who is not the sender, has authorised with a signature. */
export interface SettlementAction {
  type: 'settlement';
  /** How it was authorised, in the family's terms. */
  method: string;
  /** Address, in the form shown to clients. */
  payer: string;
  /** What the authorisation uses up, in the family's terms. */
  nonce: string;
  /** Most that may be taken; atomic units of the outputs' token, decimal digits. */
  authorised: string;
  /** As signed; seconds since the epoch, decimal digits. Whether the bounds are included depends on the method. */
  validAfter: string;
  validBefore: string;
  /** The payer's. */
  signature: Hex;
  /** An allowance that the payer has signed as well and the same transaction gives (EIP-2612); numbers as decimal digits. */
  permit?: { value: string; deadline: string; v: number; r: Hex; s: Hex };
  /** The call that creates the payer's wallet before, in the same transaction; the contract in canonical form. */
  deployment?: { factory: string; data: Hex };
}

/** Authorises a payment to the outputs that somebody else carries out: it is signed and not broadcast. */
export interface AuthorisationAction {
  type: 'authorisation';
  /** How it is authorised, in the family's terms. */
  method: string;
  /** What it uses up, or what makes it unlike others, in the family's terms. */
  nonce: string;
  /** For how long it can be carried out at most, from when it is prepared. */
  seconds: number;
  /** The only address that may carry it out, in the form shown to clients; null: anybody may. */
  facilitator: string | null;
  /** Name and version of the domain that the token verifies signatures for; null: it verifies none of this payment. */
  domain: { name: string; version: string } | null;
  /** An allowance for the payment is authorised with it, where the chain needs one. */
  withAllowance: boolean;
  /** A text that the chain shows with it; absent: none. */
  memo?: string;
}

/** An unsigned transaction as decoded from its bytes alone. */
export interface TransactionDescription {
  /** CAIP-2 of the only chain that would execute the bytes. */
  chain: string;
  action: 'payment' | IntentAction['type'];
  /** Of a settlement. */
  settlement?: DescribedSettlement;
  /** Of an authorisation. */
  authorisation?: DescribedAuthorisation;
  /** Without change back to the sender. */
  outputs: TransactionOutput[];
  /** Highest network fee that the bytes allow, atomic units of the native coin. */
  maxNetworkFee: bigint;
  /** When the bytes expire by themselves, seconds since the epoch; absent where they do not expire by time. */
  expiresAt?: number;
  /** A text that the chain shows to everybody; absent: none. */
  memo?: string;
  /**
   * What the bytes use up, as named in reservations (a nonce, inputs); empty where a family reserves nothing. A replacement and a
   * cancellation also use up the first one of the attempt before, so that only one of them can be executed.
   */
  resources: string[];
  /** What comes back to the sender and can be spent on its own, in families whose balances consist of outputs; absent: nothing. */
  change?: { resource: string; amount: bigint };
  /** In the family's unit, where a chain limits what depends on each other by it. */
  size?: number;
}

/** Whose payment a settlement carries out. */
export interface DescribedSettlement {
  /** In the family's terms. */
  method: string;
  /** In the form shown to clients. */
  payer: string;
  /** What can be used once only, whoever settles, in canonical form. */
  identity: string;
  /** Most that the payer has signed for; atomic units. */
  authorised: bigint;
  /** The only address that may settle, in the form shown to clients; null: anybody may. */
  facilitator: string | null;
  /** The contract that executes the payment, in the form shown to clients. */
  contract: string;
  /** The contract that is called before, to create the payer's wallet, in the form shown to clients; absent: none is. */
  factory?: string;
  /** As it was asked for. */
  action: SettlementAction;
  /** Every field of what the payer has signed, with the signature; equal to that of `PaymentIdentity`. */
  authorisation: string;
}

/** A payment that somebody else carries out. */
export interface DescribedAuthorisation {
  /** In the family's terms. */
  method: string;
  /** What can be used once only, whoever carries it out, in canonical form. */
  identity: string;
  /** The only address that may carry it out, in the form shown to clients; null: anybody may. */
  facilitator: string | null;
  /** The contract that verifies it, in the form shown to clients. */
  contract: string;
  /** As it was asked for. */
  action: AuthorisationAction;
}

/** Fee levels of a chain as last seen by its follower, in the family's own format. */
export type FeeLevels = JsonObject;

/** Facts that were read from the chain before an attempt begins. Part of workflow histories. */
export interface Prepared {
  /** Highest network fee of the attempt, all parts included; atomic units of the native coin, decimal digits. */
  feeBound: string;
  /** When the attempt can no longer be executed, in the family's own terms; null: it does not expire. */
  expiry: JsonObject | null;
  /** Opaque to everything outside the family. */
  details: JsonValue;
}

/** Effect of an included transaction, as the chain reports it. */
export interface InclusionEffect {
  blockNumber: number;
  blockHash: string;
  /** The chain executed it without revert. */
  success: boolean;
  /** Atomic units of the native coin, L1 data fee included. */
  fee: bigint;
  /** Native: the value; token: what left the payer by its Transfer event; null when no such event exists. */
  debited: bigint | null;
  /** Amount that reached the recipient by the event (less than debited for fee-on-transfer tokens). */
  received: bigint | null;
}

/** One incoming payment of a transaction that no block holds. */
export interface PendingDeposit {
  txHash: string;
  /** Position within the transaction, in the chain's own terms. */
  position: string;
  fromAddress: string;
  toAddress: string;
  /** null: native coin. */
  tokenContract: string | null;
  amount: bigint;
}

/** One incoming payment found in a block. */
export interface DepositFound extends PendingDeposit {
  blockNumber: number;
  blockHash: string;
  /** Depth at which it is credited, where the chain lets it be spent later than its confirmations; absent: these. */
  confirmations?: number;
}

/**
 * Why an attempt was made. `replacement`: the same resources at a higher fee; `reissue`: a new transaction after every earlier one
 * was proven impossible; `cancellation`: a transaction that moves nothing uses up the resources of the earlier attempts.
 */
export type AttemptKind = 'first' | 'replacement' | 'reissue' | 'cancellation';

/** What happens to transfers that do not proceed, by family; workflows branch on this and never on a family's name. */
export interface FamilyRules {
  /** Not included in time: a replacement at a higher fee, or the same bytes once more. */
  stuck: 'replace' | 'rebroadcast';
  /** Every attempt is proven impossible: a reissue, the transfer is parked until it is abandoned, or it has failed. */
  expired: 'reissue' | 'park' | 'fail';
  /** Abandoned: a cancellation uses up the resources, or the expiry of the attempts is waited for. */
  abandoned: 'cancel' | 'expiry';
}
