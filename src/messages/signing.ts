/** What travels between workflows and MPC nodes. Pure types: ids and public data only, never a share or round message. */
import type { ChainFamily } from '../chains/types';

export type Hex = `0x${string}`;
export type NodeIndex = 1 | 2 | 3;
export const nodeIndexes: readonly NodeIndex[] = [1, 2, 3];
/** Signatures of which two of three nodes are needed. */
export const quorum = 2;

/** Temporal task queue a node's activities run on. */
export const nodeTaskQueue = (node: NodeIndex): string => `mpc-node-${node}`;

/** The initiator reaches its peer by mutual TLS; every pair that can sign. */
export interface SigningPair {
  initiator: NodeIndex;
  peer: NodeIndex;
}

export interface GenerateKeyRequest {
  /** Fresh for every attempt; shares of an attempt that did not finish are never used. */
  keyId: string;
  /** Whose key it will be: every node keeps it with its share, and refuses what is on that client's blacklist. */
  clientId?: string;
}

export interface GroupKey {
  keyId: string;
  /** 33 bytes, compressed secp256k1. */
  publicKey: Hex;
  /** 32 bytes, BIP-32 chain code shared by the group. */
  chainCode: Hex;
}

/** Asks a node what it holds durably for a key. */
export interface ConfirmKeyRequest {
  keyId: string;
}

/** A signature over a digest the nodes compute themselves from keyId and a domain tag: it proves that shares fit. */
export interface TestSignRequest {
  keyId: string;
  peer: NodeIndex;
}

/** What the client asked for; every node compares the unsigned transaction with it before taking part. */
export interface TransferIntent {
  txId: string;
  /** Counts for keys that were made before nodes knew whose they are. */
  clientId?: string;
  chain: string;
  fromAddress: string;
  toAddress: string;
  /** null: the chain's native coin. */
  tokenContract: string | null;
  /** Atomic units, decimal digits. */
  amount: string;
  /** Highest network fee the transaction may cost, atomic units of the native coin. */
  feeBound: string;
}

/** `noop` burns a reserved nonce: a zero-value transaction of the account to itself. */
export type PayloadKind = 'first' | 'replacement' | 'noop';

export interface SignTransactionRequest {
  keyId: string;
  /** Non-hardened BIP-32 path below the group key, such as `m/60/0`. */
  derivationPath: string;
  family: ChainFamily;
  kind: PayloadKind;
  attempt: number;
  /** The chain's serialisation of the unsigned transaction (EVM: EIP-2718 bytes). */
  unsigned: Hex;
  intent: TransferIntent;
  peer: NodeIndex;
}

export interface TransactionSignatures {
  /** One per signing payload of the transaction: r (32) || s (32, low) || recovery id (1). */
  signatures: Hex[];
}

/** Changes in one page, which is well below what Temporal carries at once. */
export const maxBlacklistChanges = 1000;

/** Changes of a client's active blacklist in their order, of every version above `after` up to `through`. */
export interface BlacklistChanges {
  clientId: string;
  /** The version they build on; 0 for nothing. */
  after: number;
  /** The version they lead to; equal to `after` when there are none. */
  through: number;
  /** Addresses in canonical form. */
  changes: { chain: string; addressKey: string; listed: boolean }[];
}

/** Activities each MPC node serves on its own task queue. */
export interface MpcNodeActivities {
  generateKey(request: GenerateKeyRequest): Promise<GroupKey>;
  confirmKey(request: ConfirmKeyRequest): Promise<GroupKey>;
  testSign(request: TestSignRequest): Promise<{ verified: true }>;
  signTransaction(request: SignTransactionRequest): Promise<TransactionSignatures>;
  /** Brings the node's own copy of a client's blacklist up to date. Answers the version it has then. */
  applyBlacklist(changes: BlacklistChanges): Promise<{ version: number }>;
}
