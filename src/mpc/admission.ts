import type { Hex } from '../chains/types';
import type { NodeIndex } from '../messages/nodes';
import type { SigningClaims } from '../messages/order';

/** One signature that a node is about to take part in: the order has been verified, and the bytes do what it says. */
export interface AdmissionEntry {
  order: SigningClaims;
  /** SHA-256 in hex over the order in compact form. */
  orderHash: string;
  /** What the transaction uses up on its chain. */
  resources: string[];
  /** Position among the transaction's signing payloads. */
  payload: number;
  /** 32 bytes. */
  digest: Buffer;
  keyId: string;
  /** The other participant. */
  peer: NodeIndex;
  initiator: NodeIndex;
  /** What leaves the account, atomic units; contract null: the native coin. null: nothing leaves it. */
  token: { contract: string | null; amount: bigint } | null;
}

/** Taking part; `outcome` is told the signature, or null when there was none. */
export interface Admitted {
  outcome(signature: Hex | null): Promise<void>;
}

/** A node's decision before it takes part in a signature. */
export interface Admission {
  /** Answers the signature where there is one over the same digest already. @throws GatewayError when the node does not take part. */
  admit(entry: AdmissionEntry): Promise<Admitted | { signature: Hex }>;
}

/** Admits everything and remembers nothing. */
export const openAdmission: Admission = {
  admit: () => Promise.resolve({ outcome: () => Promise.resolve() }),
};
