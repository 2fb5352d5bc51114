import { randomBytes } from 'node:crypto';
import { signEnvelope, verifyEnvelope, type EnvelopeHeader } from '../../../src/mpc/envelope';
import { newKeyPair } from '../../keys';

const newKeys = () => newKeyPair('P-256');

describe('round message signatures', () => {
  const { privateKey, publicKey } = newKeys();
  const header: EnvelopeHeader = { sessionId: randomBytes(32), round: 2, from: 1, to: 3 };
  const body = randomBytes(500);
  const signature = signEnvelope(header, body, privateKey);

  test('verify only for the signed message', () => {
    expect(signature).toHaveLength(64);
    expect(verifyEnvelope(header, body, signature, publicKey)).toBe(true);
  });

  test.each([
    ['session', { sessionId: randomBytes(32) }],
    ['round', { round: 3 }],
    ['sender', { from: 2 as const }],
    ['recipient', { to: 2 as const }],
  ])('do not verify for another %s', (_what, change) => {
    expect(verifyEnvelope({ ...header, ...change }, body, signature, publicKey)).toBe(false);
  });

  test('do not verify for another body, key or a damaged signature', () => {
    const flipped = Buffer.from(body);
    flipped[250]! ^= 1;
    expect(verifyEnvelope(header, flipped, signature, publicKey)).toBe(false);
    expect(verifyEnvelope(header, body.subarray(1), signature, publicKey)).toBe(false);
    expect(verifyEnvelope(header, body, signature, newKeys().publicKey)).toBe(false);
    expect(verifyEnvelope(header, body, signature.subarray(1), publicKey)).toBe(false);
    expect(verifyEnvelope(header, body, Buffer.alloc(64), publicKey)).toBe(false);
  });

  test('are refused for fields of another size', () => {
    expect(() => signEnvelope({ ...header, sessionId: randomBytes(31) }, body, privateKey)).toThrow(/32 bytes/);
    expect(() => signEnvelope({ ...header, round: 256 }, body, privateKey)).toThrow(/range/);
  });
});
