import { createPublicKey, verify } from 'node:crypto';

/** Whether it is the signature (64 bytes) of this public key (32 bytes) over the message: RFC 8032, by the process's own OpenSSL. */
export function verifiesEd25519(publicKey: Uint8Array, signature: Uint8Array, message: Uint8Array): boolean {
  if (publicKey.length !== 32 || signature.length !== 64) return false;
  try {
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(publicKey).toString('base64url') };
    return verify(null, message, createPublicKey({ key: jwk, format: 'jwk' }), signature);
  } catch {
    // no point of the curve
    return false;
  }
}
