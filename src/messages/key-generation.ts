import type { Hex } from '../chains/types';
import type { NodeIndex } from './nodes';

export interface GenerateKeyWorkflowInput {
  walletId: string;
  clientId: string;
  /** Key generations begun by earlier runs of this workflow; key ids never repeat. */
  attemptsBefore?: number;
}

export interface GenerateKeyRequest {
  /**
   * generate_key (order.ts): it names a key id that is fresh for every attempt, and whose key it will be. Shares of an attempt that did
   * not finish are never used.
   */
  order: string;
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

/** A signature over a digest the nodes compute themselves from key id and a domain tag: it proves that shares fit. */
export interface TestSignRequest {
  /** The order of the key's generation: it admits a few test signatures, until the key is bound. */
  order: string;
  peer: NodeIndex;
}

/** Ties a key to its wallet and client, once; only then it signs transactions. */
export interface BindKeyRequest {
  /** bind_key (order.ts). */
  order: string;
}

/** A key that a wallet is to have. */
export interface WalletKey {
  walletId: string;
  /** `<walletId>.<attempt>`. */
  keyId: string;
}

/** Short database activities of wallets; run as local activities by the main worker. */
export interface WalletActivities {
  activateWallet(input: { walletId: string; keyId: string; publicKey: Hex; chainCode: Hex }): Promise<void>;
}
