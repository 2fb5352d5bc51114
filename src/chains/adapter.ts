import type { AttemptKind, Hex } from './types';
import type {
  ChainDefinition,
  ChainFamily,
  DepositFound,
  FeeLevels,
  InclusionEffect,
  TokenDefinition,
  TransactionDescription,
  TransactionStatusOnChain,
} from './types';

export interface ParsedAddress {
  /** As shown to clients (EVM: EIP-55). */
  address: string;
  /** Canonical form for comparison and unique indexes (EVM: lower case). */
  key: string;
}

/** What an unsigned transaction is built from. Amounts and fees in atomic units. */
export interface TransactionPlan {
  chainId: number;
  kind: AttemptKind;
  nonce: number;
  from: string;
  to: string;
  /** null: native coin. */
  tokenContract: string | null;
  amount: bigint;
  gasLimit: bigint;
  /** EIP-1559 when both are given, else legacy with gasPrice. */
  maxFeePerGas: bigint | null;
  maxPriorityFeePerGas: bigint | null;
  gasPrice: bigint | null;
}

/** Pure functions of a chain family: the same code runs in the API, the workers and every MPC node. No I/O. */
export interface FamilyAdapter {
  readonly family: ChainFamily;
  /** Non-hardened BIP-32 path of the index-th account of a wallet, such as m/60/0. */
  accountPath(index: number): string;
  /** Address of a compressed public key (33 bytes). */
  address(publicKey: Uint8Array): ParsedAddress;
  /** null when the text is no valid address of this family (wrong EIP-55 checksum included). */
  parseAddress(text: string): ParsedAddress | null;
  /** Serialises a plan (EVM: EIP-2718 unsigned bytes). */
  build(plan: TransactionPlan): Hex;
  /** 32-byte digests that have to be signed, in order. */
  signingPayloads(unsigned: Hex): Hex[];
  /** Decodes unsigned bytes. @throws Error on bytes this gateway would never build. */
  describe(unsigned: Hex): TransactionDescription;
  /** Joins bytes and signatures (each r || s || recovery id). @throws Error when they do not recover to `from`. */
  assemble(unsigned: Hex, signatures: Hex[], from: string): { hash: Hex; bytes: Hex };
}

export interface BlockScan {
  number: number;
  hash: string;
  parentHash: string;
  /** Hashes of every transaction of the block. */
  transactionHashes: string[];
  deposits: DepositFound[];
}

/** Everything that asks a chain. Every call has a time-out; failures are GatewayError chain_unavailable (retryable). */
export interface ChainClient {
  readonly chain: ChainDefinition;
  /** Throws ConfigError when an endpoint serves another chain (chain id, and genesis where known). */
  verifyIdentity(): Promise<void>;
  head(): Promise<{ number: number }>;
  feeLevels(): Promise<FeeLevels>;
  /** Transactions of the sender already mined (nonces below are gone). */
  minedNonce(address: string): Promise<number>;
  estimateGas(plan: Pick<TransactionPlan, 'from' | 'to' | 'tokenContract' | 'amount'>): Promise<bigint>;
  /** Upper estimate with margin; 0n where the chain charges none. */
  l1DataFee(unsigned: Hex): Promise<bigint>;
  broadcast(bytes: Hex): Promise<{ outcome: 'accepted' } | { outcome: 'rejected'; reason: string }>;
  /** Whereabouts of the transactions sharing one nonce: any of `hashes`. */
  status(
    hashes: Hex[],
    nonce: number,
    from: string,
    movement: ExpectedTransfer,
  ): Promise<TransactionStatusOnChain & { hash?: Hex }>;
  /** Effects of included transactions, absent ones left out; one batched request. */
  effects(items: { hash: Hex; movement: ExpectedTransfer }[]): Promise<Map<Hex, InclusionEffect>>;
  block(number: number): Promise<{ number: number; hash: string; parentHash: string } | null>;
  /** Blocks from..to (inclusive, at most 50 at once) with the deposits to addresses that `isOurs` names (canonical keys in, subset out). */
  scan(from: number, to: number, isOurs: (addressKeys: string[]) => Promise<Set<string>>): Promise<BlockScan[]>;
}

/** What a transaction is expected to do, for judging by effect. */
export interface ExpectedTransfer {
  from: string;
  to: string;
  tokenContract: string | null;
  amount: bigint;
}

export interface FeePolicy {
  /** Gas assumed when the transfer is locked, before the chain is asked. */
  gasLimit(token: TokenDefinition): bigint;
  /** Highest network fee locked for a transfer at these levels: gas × highest fee × headroom for replacements + L1 data fee. */
  bound(chain: ChainDefinition, token: TokenDefinition, levels: FeeLevels): bigint;
}
