import type { Hex } from '../chains/types';
import type { NodeIndex } from './nodes';

export interface GenerateKeyWorkflowInput {
  walletId: string;
  clientId: string;
  /** Key generations begun by earlier runs of this workflow; key ids are never reused. */
  attemptsBefore?: number;
}

export interface GenerateKeyRequest {
  /** New for every attempt; shares of an attempt that did not finish are never used. */
  keyId: string;
  /** Owner of the key: every node stores it with its share and refuses recipients on that client's blacklist. */
  clientId?: string;
}

export interface GroupKey {
  keyId: string;
  /** 33 bytes, compressed secp256k1. */
  publicKey: Hex;
  /** 32 bytes, BIP-32 chain code shared by the group. */
  chainCode: Hex;
}

/** Asks a node what it has stored durably for a key. */
export interface ConfirmKeyRequest {
  keyId: string;
}

/** Requests a signature over a digest that the nodes compute from keyId and a domain tag: proves that the shares fit together. */
export interface TestSignRequest {
  keyId: string;
  peer: NodeIndex;
}

/** Short database activities of wallets; run as local activities by the main worker. */
export interface WalletActivities {
  activateWallet(input: { walletId: string; keyId: string; publicKey: Hex; chainCode: Hex }): Promise<void>;
}
