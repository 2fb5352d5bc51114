import { createHash, randomBytes } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';

/** A signature of a random nonce (RFC 8032, 5.1.6, but for the nonce), as every threshold signature is: another one at each call. 64 bytes. */
export function signAnew(message: Uint8Array, secret: Uint8Array): Buffer {
  const { Fn, BASE } = ed25519.Point;
  const { scalar, pointBytes } = ed25519.utils.getExtendedPublicKey(secret);
  const nonce = Fn.create(BigInt(`0x${randomBytes(31).toString('hex')}`) + 1n);
  const commitment = BASE.multiply(nonce).toBytes();
  const digest = createHash('sha512').update(commitment).update(pointBytes).update(message).digest();
  const challenge = Fn.create(BigInt(`0x${digest.reverse().toString('hex')}`));
  const response = Fn.create(nonce + challenge * scalar);
  return Buffer.concat([commitment, Buffer.from(response.toString(16).padStart(64, '0'), 'hex').reverse()]);
}
