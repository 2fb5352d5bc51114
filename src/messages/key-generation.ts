import type { Hex } from '../chains/types';
import type { NodeIndex } from './nodes';

export interface GenerateKeyWorkflowInput {
  walletId: string;
  clientId: string;
  /** Key generations begun by earlier runs of this workflow; key ids never repeat. */
  attemptsBefore?: number;
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

/** Short database activities of wallets; run as local activities by the main worker. */
export interface WalletActivities {
  activateWallet(input: { walletId: string; keyId: string; publicKey: Hex; chainCode: Hex }): Promise<void>;
}
