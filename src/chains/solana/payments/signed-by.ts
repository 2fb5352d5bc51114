import { createPublicKey, verify } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';

/** What stands before the 32 bytes of a key (RFC 8410: SubjectPublicKeyInfo of id-Ed25519). */
const keyPrefix = Buffer.from('302a300506032b6570032100', 'hex');

/**
 * Whether the key has signed the message, as the network sees it (solana-signature: verify_strict of ed25519-dalek): RFC 8032 without
 * the cofactor, and neither the key nor the first half of the signature of small order. Keys and signatures of any bytes.
 */
export function isSignedBy(key: Buffer, signature: Buffer, message: Buffer): boolean {
  if (isWeak(key) || isWeak(signature.subarray(0, 32))) return false;
  try {
    const publicKey = createPublicKey({ key: Buffer.concat([keyPrefix, key]), format: 'der', type: 'spki' });
    return verify(null, message, publicKey, signature);
  } catch {
    return false;
  }
}

/** No point, or one that signs anything. */
function isWeak(bytes: Buffer): boolean {
  try {
    return ed25519.Point.fromBytes(bytes, true).isSmallOrder();
  } catch {
    return true;
  }
}
