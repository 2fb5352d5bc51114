import { createHash } from 'node:crypto';
import type { FamilyCodec, SigningPayload } from '../../../src/chains/family';
import { groupPath, maxSignedBytes } from '../../../src/chains/key-protocols';
import type { Hex } from '../../../src/chains/types';
import type { OrderSigner } from '../../../src/messages/order';
import { verifySigners } from '../../../src/mpc/verify/signers';
import { toyFamily } from '../../toy-chain/family';
import { toyAddress } from '../../toy-chain/message';

const family: FamilyCodec = { ...toyFamily, keyProtocol: 'frost-ed25519', accountPath: () => groupPath };
const publicKey = Buffer.alloc(32, 7);
const keys = new Map([['a.1', { publicKey, chainCode: Buffer.alloc(0) }]]);
const digestOf = (message: Hex): Hex =>
  `0x${createHash('sha256')
    .update(Buffer.from(message.slice(2), 'hex'))
    .digest('hex')}`;
const message: Hex = '0x00112233';
const payload: SigningPayload = { signer: toyAddress(publicKey).key, digest: digestOf(message), message };
const signer: OrderSigner = { key_id: 'a.1', path: groupPath, protocol: 'frost-ed25519', digests: [payload.digest] };

test('what is signed is the message; its SHA-256 is what the order names', () => {
  expect(verifySigners([signer], [payload], family, keys)).toEqual([
    {
      keyId: 'a.1',
      path: groupPath,
      publicKey,
      digest: Buffer.from(payload.digest.slice(2), 'hex'),
      message: Buffer.from('00112233', 'hex'),
    },
  ]);
});

test('the longest message is signed', () => {
  const longest: Hex = `0x${'ab'.repeat(maxSignedBytes)}`;
  const long = { ...payload, message: longest, digest: digestOf(longest) };
  expect(verifySigners([{ ...signer, digests: [long.digest] }], [long], family, keys)).toHaveLength(1);
});

const withoutMessage = { signer: payload.signer, digest: payload.digest };
const tooLong: Hex = `0x${'ab'.repeat(maxSignedBytes + 1)}`;
test.each<[string, SigningPayload]>([
  ['no message', withoutMessage],
  ['an empty message', { ...payload, message: '0x', digest: digestOf('0x') }],
  ['a message that is too long', { ...payload, message: tooLong, digest: digestOf(tooLong) }],
  ['the digest of another message', { ...payload, message: '0x00112234' }],
])('%s is refused', (_what, wrong) => {
  expect(() => verifySigners([{ ...signer, digests: [wrong.digest] }], [wrong], family, keys)).toThrow(
    expect.objectContaining({ code: 'intent_mismatch', message: expect.stringContaining('signing payloads') }),
  );
});

test.each(['m/0', 'm/501/0'])('the path %s is refused: the key has no children', (path) => {
  expect(() => verifySigners([{ ...signer, path }], [payload], family, keys)).toThrow(
    expect.objectContaining({ code: 'intent_mismatch', message: expect.stringContaining('path') }),
  );
});

test('a chain whose protocol signs digests gives no message, and its keys do not sign at the path m', () => {
  const ecdsa = { ...signer, protocol: 'ecdsa-secp256k1' } as const;
  expect(() => verifySigners([ecdsa], [payload], toyFamily, keys)).toThrow(
    expect.objectContaining({ message: expect.stringContaining('signing payloads') }),
  );
  expect(() => verifySigners([ecdsa], [withoutMessage], toyFamily, keys)).toThrow(
    expect.objectContaining({ message: expect.stringContaining('path') }),
  );
});
