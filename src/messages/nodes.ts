export type NodeIndex = 1 | 2 | 3;

export const nodeIndexes: readonly NodeIndex[] = [1, 2, 3];

/** Signatures of which two of three nodes are needed. */
export const quorum = 2;

/** The initiator reaches its peer by mutual TLS; every pair that can sign. */
export interface SigningPair {
  initiator: NodeIndex;
  peer: NodeIndex;
}
