import type { Hex } from '../chains/types';
import type { NodeIndex } from './nodes';

export interface GenerateKeyWorkflowInput {
  walletId: string;
  clientId: string;
  /** Key generations begun by earlier runs of this workflow; key ids are never reused. */
  attemptsBefore?: number;
}

export interface GenerateKeyRequest {
  /**
   * generate_key (order.ts). It names a key id that is new for every attempt, and the owner of the key. Shares of an attempt that did
   * not finish are never used.
   */
  order: string;
}

export interface GroupKey {
  keyId: string;
  /** 33 bytes, compressed secp256k1; 32 bytes, Ed25519. */
  publicKey: Hex;
  /** 32 bytes, BIP-32 chain code shared by the group; `0x` where keys have no children. */
  chainCode: Hex;
}

/** A key as a node has it. */
export interface HeldKey extends GroupKey {
  /** The wallet that this node has bound it to; null: none. */
  walletId: string | null;
}

/** Asks a node what it has stored durably for a key. */
export interface ConfirmKeyRequest {
  keyId: string;
}

/** Requests a signature over a digest that the nodes compute from key id and a domain tag: proves that the shares fit together. */
export interface TestSignRequest {
  /** The order of the key's generation: it admits a few test signatures, until the key is bound. */
  order: string;
  peer: NodeIndex;
}

/** Binds a key to its wallet and client, and to its account where it is one's own, once; only a bound key signs transactions. */
export interface BindKeyRequest {
  /** bind_key (order.ts). */
  order: string;
}

/** What a node says about a key that it has bound, signed with its identity key (src/mpc/key-attestation.ts). */
export interface KeyAttestation {
  /** JSON. */
  text: string;
  /** Base64. */
  signature: string;
}

export interface BoundKey {
  bound: true;
  attestation: KeyAttestation;
}

/** A key and the wallet that it is generated for. */
export interface WalletKey {
  walletId: string;
  /** `<walletId>.<attempt>`, or that of a key of the pool that the wallet has taken. */
  keyId: string;
}

/** A key that is generated before a wallet wants it. */
export interface PooledKey {
  /** `pool-<uuid>.1` */
  keyId: string;
}

/** A key and the account that it is generated for. */
export interface AccountKey {
  accountId: string;
  /** `<accountId>.<attempt>`. */
  keyId: string;
}

export interface GenerateAccountKeyInput extends AccountKey {
  /** Its binding was ordered before: the key is there, and no other can become the account's. */
  isBindingOrdered: boolean;
}

/** A key that every node says to have bound. */
export interface AttestedGroupKey extends GroupKey {
  /** One of each node. */
  attestations: KeyAttestation[];
}

export interface ActivateWallet extends AttestedGroupKey {
  walletId: string;
}

/** Short database activities of wallets; run as local activities by the main worker. */
export interface WalletActivities {
  activateWallet(input: ActivateWallet): Promise<void>;
}
