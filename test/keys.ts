import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';

export interface KeyPair {
  privateKey: KeyObject;
  publicKey: KeyObject;
}

/**
 * A new pair, read from its bytes: a key object that Node's generator has returned shares a lock with that job, and exporting it waits for
 * ever when the job is collected as garbage meanwhile (seen on Node 20: KeyGenJob's destructor waits for the lock that the export holds).
 */
export function newKeyPair(type: 'ed25519' | 'ed448' | 'P-256' | 'rsa'): KeyPair {
  const encoding = {
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'der' },
  } as const;
  // with an encoding it is bytes, which the type of the function does not say
  const key = generate() as unknown as Buffer;
  const privateKey = createPrivateKey({ key, type: 'pkcs8', format: 'der' });
  return { privateKey, publicKey: createPublicKey(privateKey) };

  function generate(): KeyObject {
    switch (type) {
      case 'ed25519':
        return generateKeyPairSync('ed25519', encoding).privateKey;
      case 'ed448':
        return generateKeyPairSync('ed448', encoding).privateKey;
      case 'P-256':
        return generateKeyPairSync('ec', { namedCurve: 'P-256', ...encoding }).privateKey;
      case 'rsa':
        return generateKeyPairSync('rsa', { modulusLength: 2048, ...encoding }).privateKey;
    }
  }
}
