import { randomBytes } from 'node:crypto';
import {
  decodeProposal,
  decodeRoster,
  encodeProposal,
  encodeRoster,
  deriveSessionId,
  type SessionParams,
} from '../../../src/mpc/session-params';

const params: SessionParams = {
  protocol: 'ecdsa-secp256k1',
  kind: 'sign',
  initiator: 1,
  participants: [1, 2],
  request: '{"a":1}',
};
const roster = new Map([
  [1, randomBytes(32)],
  [2, randomBytes(32)],
] as const);

describe('session ids', () => {
  const id = deriveSessionId(params, roster);

  test('are the same for the same params and randomness, whoever computes them', () => {
    expect(deriveSessionId({ ...params }, new Map([...roster].reverse()))).toEqual(id);
    expect(id).toHaveLength(32);
  });

  test.each<[string, Partial<SessionParams>]>([
    ['kind', { kind: 'test' }],
    ['initiator', { initiator: 2 }],
    ['request', { request: '{"a":2}' }],
    ['protocol', { protocol: 'other' as SessionParams['protocol'] }],
  ])('differ with the %s', (_what, change) => {
    expect(deriveSessionId({ ...params, ...change }, roster)).not.toEqual(id);
  });

  test('differ with the randomness of any participant, and need that of all', () => {
    expect(deriveSessionId(params, new Map([...roster, [2, randomBytes(32)]]))).not.toEqual(id);
    expect(() => deriveSessionId(params, new Map([[1, randomBytes(32)]]))).toThrow(/no randomness of party 2/);
  });
});

describe('proposals', () => {
  const body = (over: Partial<SessionParams> = {}) =>
    encodeProposal({ params: { ...params, ...over }, randomness: randomBytes(32) });

  test('arrive as they were sent; the initiator is the party of the connection', () => {
    const randomness = randomBytes(32);
    expect(decodeProposal(encodeProposal({ params, randomness }), 1, 2)).toEqual({ params, randomness });
  });

  test.each<[string, Buffer, 1 | 3]>([
    ['not JSON', Buffer.from('{'), 1],
    ['another sender than a participant', body(), 3],
    ['participants in disorder', body({ participants: [2, 1] }), 1],
    ['a signature by three', body({ participants: [1, 2, 3] }), 1],
    ['a key generation by two', body({ kind: 'keygen' }), 1],
    ['an unknown protocol', body({ protocol: 'other' as SessionParams['protocol'] }), 1],
    ['an unknown field', Buffer.from(body().toString().replace('{', '{"digest":"00",')), 1],
  ])('with %s are refused', (_what, bytes, from) => {
    expect(() => decodeProposal(bytes, from, 2)).toThrow(/malformed session message/);
  });

  test('rosters arrive as they were sent', () => {
    expect(decodeRoster(encodeRoster(roster))).toEqual(new Map(roster));
    expect(() => decodeRoster(Buffer.from('{"4":"00"}'))).toThrow(/malformed/);
  });
});
