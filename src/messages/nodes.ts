export type NodeIndex = 1 | 2 | 3;

export const nodeIndexes: readonly NodeIndex[] = [1, 2, 3];

/** Number of nodes, of three, that a signature needs. */
export const quorum = 2;

/** An initiator and the peer that it connects to by mutual TLS. */
export interface SigningPair {
  initiator: NodeIndex;
  peer: NodeIndex;
}
