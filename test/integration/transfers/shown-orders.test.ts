import { createHash, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { showOrders } from '../../../src/cli/order-operations';
import { OrderKeys } from '../../../src/mpc/order-keys';
import { newId } from '../../../src/platform/ids';
import { claimsOf, forgeOrder, orderKeys, signOrder } from '../../orders';
import { begun, type Fixture } from '../ledger/fixture';
import { useFundedFixture } from './fixture';

let fixture: Fixture;
const { locked } = useFundedFixture((it) => (fixture = it));

const known = OrderKeys.create(orderKeys, 'ORDER_KEYS');
const show = async (txId: string, signed: Record<string, string>, keys: Promise<OrderKeys> | null = known) =>
  showOrders(
    { database: fixture.database, keys: await keys, findSigned: () => Promise.resolve(new Map(Object.entries(signed))) },
    txId,
  );

test('an order is shown with its times, its key and what it permits to sign', async () => {
  const txId = await locked();
  expect(await show(txId, {})).toEqual([]);
  const { order, unsigned } = await begun(fixture, { txId });
  const { jti, seq, iat, exp, signers } = claimsOf(order);
  expect(await show(txId, { [jti]: order })).toEqual([
    {
      attempt: 1,
      kind: 'transfer',
      seq,
      jti,
      issued_at: new Date(iat * 1000),
      expires_at: new Date(exp * 1000),
      kid: expect.stringMatching(/^[\w-]{43}$/),
      signature: 'valid',
      order_sha256: createHash('sha256').update(order).digest('hex'),
      digests: signers[0]?.digests,
      bytes_sha256: createHash('sha256')
        .update(Buffer.from(unsigned.slice(2), 'hex'))
        .digest('hex'),
    },
  ]);
});

test('only the signature of a configured key over the stored claims is valid', async () => {
  const txId = await locked();
  const { order } = await begun(fixture, { txId });
  const claims = claimsOf(order);
  const { privateKey } = generateKeyPairSync('ed25519');
  const others = OrderKeys.create(
    JSON.stringify({ keys: [createPublicKey(privateKey).export({ format: 'jwk' })] }),
    'ORDER_KEYS',
  );
  const state = async (signed: Record<string, string>, keys: Promise<OrderKeys> | null = known) =>
    (await show(txId, signed, keys)).map(({ signature }) => signature);
  expect(await state({})).toEqual(['missing']);
  expect(await state({ [claims.jti]: order }, null)).toEqual(['not checked']);
  expect(await state({ [claims.jti]: order }, others)).toEqual(['invalid']);
  expect(await state({ [claims.jti]: await forgeOrder(claims, { key: privateKey }) })).toEqual(['invalid']);
  expect(await state({ [claims.jti]: await forgeOrder(claims, { typ: 'JWT' }) })).toEqual(['invalid']);
  expect(await state({ [claims.jti]: await signOrder({ ...claims, max_fee: '1' }) })).toEqual(['differs']);
});

test('an unknown transfer is an error', async () => {
  for (const txId of [newId(), 'nope'])
    await expect(show(txId, {})).rejects.toMatchObject({ code: 'not_found', message: `transaction ${txId} not found` });
});
