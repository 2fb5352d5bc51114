/** Messages between workflows and MPC nodes: ids and public data only, never a share or a round message. */
import type { Hex, KeyProtocol } from '../chains/types';
import type { ApplyBlacklistRequest } from './blacklist';
import type {
  BindKeyRequest,
  BoundKey,
  ConfirmKeyRequest,
  GenerateKeyRequest,
  GroupKey,
  HeldKey,
  TestSignRequest,
} from './key-generation';
import type { JournalRequest, SignedAnswer } from './journal';
import type { NodeIndex } from './nodes';
import type { OrdersRequest } from './seen-orders';

/** A key that signs, and the digests it signs. */
export interface Signer {
  keyId: string;
  /** Non-hardened BIP-32 path below the group key, such as `m/60/0`; `m`: the key of one account. */
  path: string;
  protocol: KeyProtocol;
  /** In the order of the transaction's signing payloads; every node computes them itself and compares. */
  digests: Hex[];
}

export interface SignTransactionRequest {
  /** The authoriser's order over exactly these bytes: a JWS in compact form (src/messages/order.ts). */
  order: string;
  /** The chain's serialisation of the unsigned transaction, in hex. */
  unsigned: Hex;
  peer: NodeIndex;
}

export interface TransactionSignatures {
  /** One per signing payload of the transaction, in their order; ECDSA: r (32) || s (32, low) || recovery id (1); Ed25519: R (32) || S (32). */
  signatures: Hex[];
}

/** A node's refusal by its own limits, signed with its identity key (src/mpc/policy-refusal.ts). */
export interface SignedRefusal {
  /** JSON. */
  text: string;
  /** Base64. */
  signature: string;
}

/** Activities of each MPC node, on its own task queue. */
export interface MpcNodeActivities {
  generateKey(request: GenerateKeyRequest): Promise<GroupKey>;
  confirmKey(request: ConfirmKeyRequest): Promise<HeldKey>;
  testSign(request: TestSignRequest): Promise<{ verified: true }>;
  signTransaction(request: SignTransactionRequest): Promise<TransactionSignatures>;
  /** Binds a key to its wallet, and attests it; a repeated call for the same wallet only attests it again. */
  bindKey(request: BindKeyRequest): Promise<BoundKey>;
  /** The version of the node's own copy of a client's blacklist; 0 without one. */
  blacklistVersion(request: { clientId: string }): Promise<{ version: number }>;
  /** Updates the node's own copy of a client's blacklist. Returns the resulting version. */
  applyBlacklist(request: ApplyBlacklistRequest): Promise<{ version: number }>;
  /** What the node has admitted and refused about a transaction. */
  readJournal(request: JournalRequest): Promise<SignedAnswer>;
  /** Orders that the node has acted on. */
  ordersSeen(request: OrdersRequest): Promise<SignedAnswer>;
}
