import { createPublicKey } from 'node:crypto';
import pino from 'pino';
import { type OrderKind, orderType, type SigningClaims, signingOrderKinds } from '../../../src/messages/order';
import { OrderVerifier } from '../../../src/mpc/order-verifier';
import { deployment, forgeOrder, orderHead, orderKeys, signOrder } from '../../orders';
import { newKeyPair } from '../../keys';

const id = '0190b5a4-0000-7000-8000-000000000001';
const digest = `0x${'11'.repeat(32)}` as const;
const transfer = (changes: object = {}) =>
  ({
    ...orderHead(),
    kind: 'transfer',
    tx_id: id,
    attempt: 1,
    client_id: id,
    request: null,
    signers: [{ key_id: 'w.1', path: 'm/60/0', protocol: 'ecdsa-secp256k1', digests: [digest] }],
    chain: 'eip155:1',
    from: '0x1',
    recipients: [{ address: '0x2', token: null, amount: '1' }],
    max_fee: '1',
    ...changes,
  }) as SigningClaims;
const settlement = {
  client_id: id,
  method: 'eip3009',
  payer: '0x3',
  identity: '0x4/0x3/0x5',
  authorised: '1',
  window_end: 1_900_000_000,
};
const authorisation = { method: 'eip3009', identity: '0x4/0x3/0x5', facilitator: null, window_end: 1_900_000_000 };
const earlier = [{ attempt: 1, digests: [digest], unsigned: '0x00' }];

const alarms: object[] = [];
const logger = pino({ level: 'error' }, { write: (line: string) => void alarms.push(JSON.parse(line) as object) });
const createVerifier = (changes: { keys?: string; now?: () => number } = {}) =>
  OrderVerifier.create({ keys: orderKeys, deployment, logger, ...changes });

let verifier: OrderVerifier;
beforeAll(async () => {
  verifier = await createVerifier();
});
beforeEach(() => {
  alarms.length = 0;
});
const verify = (order: string, kinds: readonly OrderKind[] = signingOrderKinds) => verifier.verify(order, kinds);

test.each([
  ['a transfer', transfer()],
  ['a replacement', transfer({ kind: 'replacement', attempt: 2 })],
  ['a cancellation', transfer({ kind: 'cancellation', attempt: 3, request: 'ab'.repeat(32) })],
  ['a reissue', transfer({ kind: 'reissue', attempt: 2, earlier })],
  [
    'a reissue of what began at a known time',
    transfer({ kind: 'reissue', attempt: 2, earlier: earlier.map((it) => ({ ...it, begun_at: 1_800_000_000 })) }),
  ],
  ['a settlement', transfer({ kind: 'settlement', settlement })],
  ['the replacement of a settlement', transfer({ kind: 'replacement', attempt: 2, settlement })],
  ['gas', transfer({ kind: 'gas' })],
  ['a withdrawal', transfer({ kind: 'withdrawal' })],
  ['the replacement of a withdrawal', transfer({ kind: 'replacement', attempt: 2, purpose: 'withdrawal' })],
  ['consolidation', transfer({ kind: 'consolidation' })],
  ['a payment that is authorised', transfer({ kind: 'typed_data', authorisation })],
])('takes an order for %s', async (_what, claims) => {
  const order = await signOrder(claims);
  const { claims: taken, hash } = await verify(order);
  expect(taken).toEqual(claims);
  expect(hash).toMatch(/^[0-9a-f]{64}$/);
});

test('the same claims give the same order', async () => {
  const claims = transfer();
  expect(await signOrder(claims)).toBe(await signOrder(claims));
});

describe('refuses', () => {
  const refusal = (field: string) => ({ code: 'order_refused', message: expect.stringMatching(new RegExp(`^${field}: `)) });
  const now = () => Math.floor(Date.now() / 1000);

  test.each<[field: string, changes: object]>([
    ['v', { v: 2 }],
    ['dep', { dep: 'another' }],
    ['jti', { jti: '7' }],
    ['seq', { seq: 0 }],
    ['seq', { seq: '1' }],
    ['exp', { iat: now() - 700, exp: now() - 100 }],
    ['exp', { exp: now() + 900 }],
    ['iat', { iat: now() + 90, exp: now() + 100 }],
    ['kind', { kind: 'anything' }],
    ['tx_id', { tx_id: 'x' }],
    ['attempt', { attempt: 0 }],
    ['client_id', { client_id: null }],
    ['request', { request: 'x' }],
    ['signers', { signers: [] }],
    ['signers.0.key_id', { signers: [{ ...transfer().signers[0], key_id: '' }] }],
    ['signers.0.path', { signers: [{ ...transfer().signers[0], path: "m/60'/0" }] }],
    ['signers.0.protocol', { signers: [{ ...transfer().signers[0], protocol: 'none' }] }],
    ['signers.0.digests', { signers: [{ ...transfer().signers[0], digests: [] }] }],
    ['signers.0.more', { signers: [{ ...transfer().signers[0], more: 1 }] }],
    ['chain', { chain: '' }],
    ['from', { from: undefined }],
    ['recipients', { recipients: [] }],
    ['recipients.0.amount', { recipients: [{ address: '0x2', token: null, amount: '-1' }] }],
    ['recipients.0.token', { recipients: [{ address: '0x2', amount: '1' }] }],
    ['recipients.0.more', { recipients: [{ address: '0x2', token: null, amount: '1', more: 1 }] }],
    ['max_fee', { max_fee: 1 }],
    ['earlier', { earlier }],
    ['earlier', { kind: 'reissue' }],
    ['earlier.0.begun_at', { kind: 'reissue', attempt: 2, earlier: earlier.map((it) => ({ ...it, begun_at: '2026-11-24' })) }],
    ['earlier.0.begun_at', { kind: 'reissue', attempt: 2, earlier: earlier.map((it) => ({ ...it, begun_at: -1 })) }],
    ['more', { more: 1 }],
    ['settlement', { kind: 'settlement' }],
    ['settlement', { settlement }],
    ['settlement', { kind: 'gas', settlement }],
    ['purpose', { kind: 'replacement', attempt: 2, purpose: 'gas' }],
    ['purpose', { kind: 'gas', purpose: 'withdrawal' }],
    ['settlement', { kind: 'cancellation', settlement }],
    ['settlement', { kind: 'reissue', earlier, settlement }],
    ['settlement.client_id', { kind: 'settlement', settlement: { ...settlement, client_id: 'x' } }],
    ['settlement.method', { kind: 'settlement', settlement: { ...settlement, method: '' } }],
    ['settlement.payer', { kind: 'settlement', settlement: { ...settlement, payer: undefined } }],
    ['settlement.identity', { kind: 'replacement', settlement: { ...settlement, identity: 'x'.repeat(301) } }],
    ['settlement.authorised', { kind: 'settlement', settlement: { ...settlement, authorised: 1 } }],
    ['settlement.window_end', { kind: 'settlement', settlement: { ...settlement, window_end: '1900000000' } }],
    ['settlement.more', { kind: 'settlement', settlement: { ...settlement, more: 1 } }],
  ])('%s: %j', async (field, changes) => {
    await expect(verify(await forgeOrder(transfer(changes)))).rejects.toMatchObject(refusal(field));
  });

  test.each(['sweep'])('a %s, which is not enabled', async (kind) => {
    const refused = { code: 'order_refused', message: `kind: ${kind} is not enabled` };
    await expect(verify(await forgeOrder(transfer({ kind })))).rejects.toMatchObject(refused);
  });

  test.each<[string, object]>([
    ['authorisation', { authorisation: undefined }],
    ['authorisation.method', { authorisation: { ...authorisation, method: '' } }],
    ['authorisation.identity', { authorisation: { ...authorisation, identity: 'x'.repeat(301) } }],
    ['authorisation.facilitator', { authorisation: { ...authorisation, facilitator: undefined } }],
    ['authorisation.window_end', { authorisation: { ...authorisation, window_end: '1900000000' } }],
    ['authorisation.more', { authorisation: { ...authorisation, more: 1 } }],
    ['recipients', { recipients: undefined }],
  ])('typed data: %s', async (field, changes) => {
    const facts = transfer({ kind: 'typed_data', authorisation, ...changes });
    await expect(verify(await forgeOrder(facts))).rejects.toMatchObject(refusal(field));
  });

  test('an order of another kind than is needed', async () => {
    await expect(verify(await signOrder(transfer()), ['generate_key'])).rejects.toMatchObject(refusal('kind'));
  });

  test('another key, another typ, and what is no JWS', async () => {
    const { privateKey } = newKeyPair('ed25519');
    await expect(verify(await forgeOrder(transfer(), { key: privateKey }))).rejects.toMatchObject(refusal('signature'));
    await expect(verify(await forgeOrder(transfer(), { typ: 'JWT' }))).rejects.toMatchObject(refusal('typ'));
    await expect(verify('a.b.c')).rejects.toMatchObject(refusal('signature'));
    const [header, , signature] = (await signOrder(transfer())).split('.');
    const body = Buffer.from(JSON.stringify(transfer({ max_fee: '2' }))).toString('base64url');
    await expect(verify([header, body, signature].join('.'))).rejects.toMatchObject(refusal('signature'));
    const unsigned = Buffer.from(JSON.stringify({ alg: 'none', typ: orderType })).toString('base64url');
    await expect(verify([unsigned, body, ''].join('.'))).rejects.toMatchObject(refusal('signature'));
  });

  test('an order from the future with an alarm, and one that is a little ahead without', async () => {
    await expect(verify(await signOrder(transfer({ iat: now() + 30, exp: now() + 100 })))).resolves.toBeDefined();
    expect(alarms).toEqual([]);
    await expect(verify(await signOrder(transfer({ iat: now() + 90, exp: now() + 100 })))).rejects.toMatchObject(refusal('iat'));
    expect(alarms).toMatchObject([{ alert: 'order_from_the_future', kind: 'transfer' }]);
  });
});

test('keys are replaced by configuring both for a while', async () => {
  const { privateKey, publicKey } = newKeyPair('ed25519');
  const { keys } = JSON.parse(orderKeys) as { keys: unknown[] };
  const both = await createVerifier({ keys: JSON.stringify({ keys: [...keys, publicKey.export({ format: 'jwk' })] }) });
  for (const order of [await signOrder(transfer()), await forgeOrder(transfer(), { key: privateKey })])
    await expect(both.verify(order, ['transfer'])).resolves.toBeDefined();
});

test.each([
  ['no JSON', 'x'],
  ['no keys', '{"keys":[]}'],
  ['a private key', JSON.stringify({ keys: [newKeyPair('ed25519').privateKey.export({ format: 'jwk' })] })],
  [
    'a key of another curve',
    JSON.stringify({
      keys: [createPublicKey(newKeyPair('P-256').privateKey).export({ format: 'jwk' })],
    }),
  ],
])('a JWKS with %s is a wrong configuration', async (_what, keys) => {
  await expect(createVerifier({ keys })).rejects.toThrow(/^MPC_NODE_ORDER_KEYS must be/);
});
