import type { NodeIndex } from '../src/messages/nodes';

/** What a party keeps of an Ed25519 key (native/threshold/src/frost/share.rs): tag, party, secret, group key, counterparts of all shares. */
export interface FrostShare {
  party: NodeIndex;
  secret: Uint8Array;
  publicKey: Uint8Array;
  /** By party, from 1. */
  verifying: Uint8Array[];
}

const shareTag = 0x02;

export function decodeFrostShare(bytes: Uint8Array): FrostShare {
  const part = (index: number) => bytes.slice(2 + 32 * index, 34 + 32 * index);
  return { party: bytes[1] as NodeIndex, secret: part(0), publicKey: part(1), verifying: [part(2), part(3), part(4)] };
}

export const encodeFrostShare = ({ party, secret, publicKey, verifying }: FrostShare): Uint8Array =>
  Uint8Array.from([shareTag, party, ...secret, ...publicKey, ...verifying.flatMap((point) => [...point])]);
