import { createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto';

/** A key-encryption key: 32 bytes in hex. */
export const newKek = (): string => randomBytes(32).toString('hex');

/** Letters and digits only, so that urls, SQL and shells need no escaping. */
export const randomPassword = (): string => randomBytes(24).toString('hex');

/** PKCS#8 PEM. As text at once: a key object of Node's generator shares a lock with its job, and may wait for itself when that is collected. */
export const newEd25519Key = (): string =>
  generateKeyPairSync('ed25519', {
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  }).privateKey;

/** JWKS (RFC 7517) with the public part of one private key. */
export const toJwks = (privateKey: string): string =>
  JSON.stringify({ keys: [createPublicKey(privateKey).export({ format: 'jwk' })] });
