import { randomBytes } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { type RecoverableSignature, recoversTo } from '../../../src/mpc/secp256k1';

describe('a signature and its recovery id', () => {
  const secret = secp256k1.utils.randomSecretKey();
  const publicKey = secp256k1.getPublicKey(secret, true);
  const sign = (digest: Uint8Array): RecoverableSignature => {
    const bytes = secp256k1.sign(digest, secret, { prehash: false, format: 'recovered' });
    return { recoveryId: bytes[0] as 0 | 1, r: bytes.slice(1, 33), s: bytes.slice(33) };
  };
  const order = secp256k1.Point.Fn.ORDER;
  const negated = (s: Uint8Array) =>
    Buffer.from((order - BigInt(`0x${Buffer.from(s).toString('hex')}`)).toString(16).padStart(64, '0'), 'hex');

  test('recover to the key that has signed, with no other id', () => {
    for (let times = 0; times < 20; times += 1) {
      const digest = randomBytes(32);
      const signature = sign(digest);
      const right = ([0, 1, 2, 3] as const).filter((recoveryId) => recoversTo(publicKey, { ...signature, recoveryId }, digest));
      expect(right).toEqual([signature.recoveryId]);
    }
  });

  test.each<[string, (signature: RecoverableSignature) => Partial<RecoverableSignature>]>([
    ['s is high, also with the id that fits', ({ s, recoveryId }) => ({ s: negated(s), recoveryId: recoveryId === 0 ? 1 : 0 })],
    ['r is zero', () => ({ r: Buffer.alloc(32) })],
    ['s is zero', () => ({ s: Buffer.alloc(32) })],
    ['r is too short', ({ r }) => ({ r: r.slice(1) })],
    ['s is too long', ({ s }) => ({ s: Buffer.concat([s, s]) })],
    ['r is no field element', () => ({ r: Buffer.alloc(32, 0xff) })],
  ])('do not where %s', (_what, change) => {
    const digest = randomBytes(32);
    const signature = sign(digest);
    expect(recoversTo(publicKey, { ...signature, ...change(signature) }, digest)).toBe(false);
  });

  test('do not to another key, or over another digest', () => {
    const digest = randomBytes(32);
    const signature = sign(digest);
    const negative = Uint8Array.from(publicKey);
    negative[0]! ^= 1;
    expect(recoversTo(negative, signature, digest)).toBe(false);
    expect(recoversTo(publicKey, signature, randomBytes(32))).toBe(false);
    expect(recoversTo(publicKey, signature, digest.subarray(1))).toBe(false);
  });
});
