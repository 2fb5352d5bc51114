/** Messages between workflows and MPC nodes: ids and public data only, never a share or a round message. */
import type { AttemptKind, ChainFamily, Hex, KeyProtocol } from '../chains/types';
import type { BlacklistChanges } from './blacklist';
import type { ConfirmKeyRequest, GenerateKeyRequest, GroupKey, TestSignRequest } from './key-generation';
import type { NodeIndex } from './nodes';

/** The client's request; every node compares the unsigned transaction with it before it signs. */
export interface TransferIntent {
  txId: string;
  /** Used for keys that were generated before nodes stored the owner of a key. */
  clientId?: string;
  chain: string;
  fromAddress: string;
  outputs: IntendedOutput[];
  /** Highest network fee of the transaction, atomic units of the native coin. */
  feeBound: string;
}

export interface IntendedOutput {
  to: string;
  /** null: the chain's native coin. */
  tokenContract: string | null;
  /** Atomic units, decimal digits. */
  amount: string;
}

/** A key that signs, and the digests it signs. */
export interface Signer {
  keyId: string;
  /** Non-hardened BIP-32 path below the group key, such as `m/60/0`. */
  path: string;
  protocol: KeyProtocol;
  /** In the order of the transaction's signing payloads; every node computes them itself and compares. */
  digests: Hex[];
}

export interface SignTransactionRequest {
  signers: Signer[];
  family: ChainFamily;
  kind: AttemptKind;
  attempt: number;
  /** The chain's serialisation of the unsigned transaction, in hex. */
  unsigned: Hex;
  intent: TransferIntent;
  peer: NodeIndex;
}

export interface TransactionSignatures {
  /** One per signing payload of the transaction, in their order; ECDSA: r (32) || s (32, low) || recovery id (1). */
  signatures: Hex[];
}

/** Activities of each MPC node, on its own task queue. */
export interface MpcNodeActivities {
  generateKey(request: GenerateKeyRequest): Promise<GroupKey>;
  confirmKey(request: ConfirmKeyRequest): Promise<GroupKey>;
  testSign(request: TestSignRequest): Promise<{ verified: true }>;
  signTransaction(request: SignTransactionRequest): Promise<TransactionSignatures>;
  /** Updates the node's own copy of a client's blacklist. Returns the resulting version. */
  applyBlacklist(changes: BlacklistChanges): Promise<{ version: number }>;
}
