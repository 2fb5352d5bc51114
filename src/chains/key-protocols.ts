import type { KeyProtocol } from './types';

/** What differs between the threshold protocols of keys. Pure data: workflows may import this file. */
export interface KeyProtocolFacts {
  /** Of a public key, bytes. */
  publicKeyBytes: 32 | 33;
  /** Of a group key, bytes. 0: keys have no children, so that every account has a key of its own, at the path `m`. */
  chainCodeBytes: 0 | 32;
  /** `digest`: 32 bytes that the family computes; `message`: the bytes themselves, which the protocol hashes. */
  signs: 'digest' | 'message';
}

export const keyProtocols: Readonly<Record<KeyProtocol, KeyProtocolFacts>> = {
  // SEC1, compressed; BIP-32
  'ecdsa-secp256k1': { publicKeyBytes: 33, chainCodeBytes: 32, signs: 'digest' },
  // RFC 8032, RFC 9591
  'frost-ed25519': { publicKeyBytes: 32, chainCodeBytes: 0, signs: 'message' },
};

/** Longest message that a protocol signs, bytes. */
export const maxSignedBytes = 64 * 1024;

/** Accounts are children of their wallet's key. */
export const hasChildren = (protocol: KeyProtocol): boolean => keyProtocols[protocol].chainCodeBytes > 0;

/** The only path of a key without children. */
export const groupPath = 'm';
