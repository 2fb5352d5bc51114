import type { NodeIndex } from './nodes';

/** Asks every node what it has admitted and refused about one transaction. */
export interface JournalRequest {
  txId: string;
  /** 32 random hex digits, which the answer repeats: it is not an old one. */
  nonce: string;
}

/** What a node says about a transaction, signed with its identity key (src/mpc/journal-answer.ts). */
export interface SignedAnswer {
  /** JSON. */
  text: string;
  /** Base64. */
  signature: string;
}

/** `problem`: why there is no answer. */
export type NodeAnswer = { node: NodeIndex } & ({ answer: SignedAnswer } | { problem: string });
