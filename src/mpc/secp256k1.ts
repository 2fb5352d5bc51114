import { HDKey } from '@scure/bip32';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { LRUCache } from 'lru-cache';
import type { Hex } from '../chains/types';

export interface RecoverableSignature {
  /** 32 bytes each, big-endian; s in the lower half (BIP-62). */
  r: Uint8Array;
  s: Uint8Array;
  recoveryId: 0 | 1 | 2 | 3;
}

/** Public key (33 bytes) recovered from a signature over a digest; undefined when there is none or when s is high. */
export function recoverKey({ r, s, recoveryId }: RecoverableSignature, digest: Uint8Array): Buffer | undefined {
  try {
    const signature = secp256k1.Signature.fromBytes(Uint8Array.from([...r, ...s]), 'compact').addRecoveryBit(recoveryId);
    if (signature.hasHighS()) return undefined;
    return Buffer.from(signature.recoverPublicKey(Uint8Array.from(digest)).toBytes(true));
  } catch {
    return undefined;
  }
}

/** r (32) || s (32) || recovery id (1). */
export function encodeSignature({ r, s, recoveryId }: RecoverableSignature): Hex {
  return `0x${Buffer.concat([r, s, Buffer.from([recoveryId])]).toString('hex')}`;
}

/** The reverse of `encodeSignature`; undefined for anything else. */
export function decodeSignature(text: Hex): RecoverableSignature | undefined {
  const bytes = Buffer.from(text.slice(2), 'hex');
  const recoveryId = bytes[64];
  if (bytes.length !== 65 || (recoveryId !== 0 && recoveryId !== 1 && recoveryId !== 2 && recoveryId !== 3)) return undefined;
  return { r: bytes.subarray(0, 32), s: bytes.subarray(32, 64), recoveryId };
}

/** Of accounts that sign again and again: a derivation takes milliseconds, and both signers of a signature make it. */
const derivedKeys = new LRUCache<string, Buffer>({ max: 10_000 });

/** BIP-32 child of a group key (33 bytes); non-hardened derivation only. @throws Error for a hardened or malformed path. */
export function deriveKey(key: { publicKey: Uint8Array; chainCode: Uint8Array }, path: string): Buffer {
  const from = `${Buffer.from(key.publicKey).toString('hex')} ${Buffer.from(key.chainCode).toString('hex')} ${path}`;
  const known = derivedKeys.get(from);
  if (known) return Buffer.from(known);
  const { publicKey } = new HDKey({
    publicKey: Uint8Array.from(key.publicKey),
    chainCode: Uint8Array.from(key.chainCode),
  }).derive(path);
  if (!publicKey) throw new Error('a derived key has no public key');
  derivedKeys.set(from, Buffer.from(publicKey));
  return Buffer.from(publicKey);
}
