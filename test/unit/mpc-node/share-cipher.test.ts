import { randomBytes } from 'node:crypto';
import { parseKeks, ShareCipher, type ShareBinding } from '../../../src/mpc/share-cipher';

describe('ShareCipher', () => {
  const kek = randomBytes(32);
  const cipher = (node: 1 | 2 = 1, key: Buffer = kek) => new ShareCipher([Buffer.from(key)], node);
  const binding: ShareBinding = {
    keyId: 'w.1',
    protocol: 'ecdsa-secp256k1',
    publicKey: randomBytes(33),
    chainCode: randomBytes(32),
    owner: { clientId: 'client', walletId: 'wallet' },
  };
  const share = randomBytes(1_000);
  const sealed = cipher().seal(share, binding);

  test('opens what it sealed; each ciphertext is different', () => {
    expect(cipher().open(sealed, binding)).toEqual(share);
    expect(cipher().seal(share, binding).ciphertext).not.toEqual(sealed.ciphertext);
  });

  test('another key-encryption key or node does not open it', () => {
    expect(() => cipher(1, randomBytes(32)).open(sealed, binding)).toThrow(/cannot be decrypted/);
    expect(() => cipher(2).open(sealed, binding)).toThrow(/cannot be decrypted/);
  });

  test('the first of several keys seals, and all of them open', () => {
    const [next, other] = [randomBytes(32), randomBytes(32)];
    const both = new ShareCipher([Buffer.from(next), Buffer.from(kek)], 1);
    expect(both.open(sealed, binding)).toEqual(share);
    const resealed = both.seal(share, binding);
    expect(cipher(1, next).open(resealed, binding)).toEqual(share);
    expect(() => cipher().open(resealed, binding)).toThrow(/is not in MPC_NODE_KEK/);
    expect(() =>
      new ShareCipher([other, Buffer.from(next)], 1).open({ ...sealed, kekFingerprint: both.fingerprint }, binding),
    ).toThrow(/cannot be decrypted/);
  });

  test('keys are read from hex, separated by commas', () => {
    const [a, b] = ['ab'.repeat(32), 'CD'.repeat(32)];
    expect(parseKeks(` ${a} , ${b}\n`).map((key) => key.toString('hex'))).toEqual([a, b.toLowerCase()]);
    for (const text of ['', a.slice(2), `${a},`, `${a};${b}`, Array.from({ length: 6 }, (_, at) => `${at}`.repeat(64)).join(',')])
      expect(() => parseKeks(text)).toThrow(/^MPC_NODE_KEK must be 32 bytes in hex/);
    expect(() => parseKeks(`${a},${a.toUpperCase()}`)).toThrow('MPC_NODE_KEK names a key twice');
  });

  test.each<[string, Partial<ShareBinding>]>([
    ['key id', { keyId: 'w.2' }],
    ['protocol', { protocol: 'other' as ShareBinding['protocol'] }],
    ['public key', { publicKey: randomBytes(33) }],
    ['chain code', { chainCode: randomBytes(32) }],
    ['client', { owner: { clientId: 'other', walletId: 'wallet' } }],
    ['wallet', { owner: { clientId: 'client', walletId: 'other' } }],
    ['owner: none', { owner: null }],
  ])('a ciphertext of another %s does not open', (_what, change) => {
    expect(() => cipher().open(sealed, { ...binding, ...change })).toThrow(/cannot be decrypted/);
  });

  test('a changed ciphertext or shortened tag does not open', () => {
    const changed = Buffer.from(sealed.ciphertext);
    changed[7]! ^= 1;
    expect(() => cipher().open({ ...sealed, ciphertext: changed }, binding)).toThrow(/cannot be decrypted/);
    expect(() => cipher().open({ ...sealed, tag: sealed.tag.subarray(0, 4) }, binding)).toThrow();
  });

  test('wipes the buffer it was made from and names its key by fingerprint', () => {
    const given = Buffer.from(kek);
    const made = new ShareCipher([given], 1);
    expect(given.equals(Buffer.alloc(32))).toBe(true);
    expect(made.fingerprint).toBe(cipher().fingerprint);
    expect(made.fingerprint).not.toBe(cipher(1, randomBytes(32)).fingerprint);
    expect(made.open(sealed, binding)).toEqual(share);
  });
});
