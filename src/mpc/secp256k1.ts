import { HDKey } from '@scure/bip32';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import type { Hex } from '../chains/types';
import { setBounded } from '../platform/bounded';
import { fromHex, toHex } from '../platform/hex';

export interface RecoverableSignature {
  /** 32 bytes each, big-endian; s in the lower half (BIP-62). */
  r: Uint8Array;
  s: Uint8Array;
  recoveryId: 0 | 1 | 2 | 3;
}

/** Whether exactly this public key (33 bytes) is recovered from the signature over the digest (32 bytes); false when s is high. */
export function recoversTo(publicKey: Uint8Array, { r, s, recoveryId }: RecoverableSignature, digest: Uint8Array): boolean {
  if (r.length !== 32 || s.length !== 32 || digest.length !== 32) return false;
  const signature = Uint8Array.from([recoveryId, ...r, ...s]);
  // verifies with the known key, which is faster than recovering one, and compares the recovery id
  const options = { prehash: false, format: 'recovered', lowS: true } as const;
  return secp256k1.verify(signature, Uint8Array.from(digest), Uint8Array.from(publicKey), options);
}

/** r (32) || s (32) || recovery id (1). */
export function encodeSignature({ r, s, recoveryId }: RecoverableSignature): Hex {
  return toHex(Buffer.concat([r, s, Buffer.from([recoveryId])]));
}

/** The reverse of `encodeSignature`; undefined for anything else. */
export function decodeSignature(text: Hex): RecoverableSignature | undefined {
  const bytes = fromHex(text);
  const recoveryId = bytes[64];
  if (bytes.length !== 65 || (recoveryId !== 0 && recoveryId !== 1 && recoveryId !== 2 && recoveryId !== 3)) return undefined;
  return { r: bytes.subarray(0, 32), s: bytes.subarray(32, 64), recoveryId };
}

/** Of accounts that sign again and again: a derivation takes milliseconds, and both signers of a signature make it. */
const derivedKeys = new Map<string, Buffer>();
const maxDerived = 10_000;

/** BIP-32 child of a group key (33 bytes); non-hardened derivation only. @throws Error for a hardened or malformed path. */
export function deriveKey(key: { publicKey: Uint8Array; chainCode: Uint8Array }, path: string): Buffer {
  const from = `${Buffer.from(key.publicKey).toString('hex')} ${Buffer.from(key.chainCode).toString('hex')} ${path}`;
  const derived = derivedKeys.get(from) ?? derive(key, path);
  // also of a known one: it becomes the newest
  setBounded(derivedKeys, from, derived, maxDerived);
  return Buffer.from(derived);
}

function derive(key: { publicKey: Uint8Array; chainCode: Uint8Array }, path: string): Buffer {
  const { publicKey } = new HDKey({
    publicKey: Uint8Array.from(key.publicKey),
    chainCode: Uint8Array.from(key.chainCode),
  }).derive(path);
  if (!publicKey) throw new Error('a derived key has no public key');
  return Buffer.from(publicKey);
}
