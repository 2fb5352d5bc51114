import { createHash, createPublicKey } from 'node:crypto';
import { findKeptOrders } from '../../../src/cli/kept-orders';
import { type OrderSources, showOrders } from '../../../src/cli/order-operations';
import { OrderKeys } from '../../../src/mpc/order-keys';
import type { AskForOrders } from '../../../src/orders/node-orders';
import { newId } from '../../../src/platform/ids';
import { claimsOf, forgeOrder, orderKeys, signOrder } from '../../orders';
import { begun, type Fixture } from '../ledger/fixture';
import { useFundedFixture } from './fixture';
import { newKeyPair } from '../../keys';

let fixture: Fixture;
const { locked } = useFundedFixture((it) => (fixture = it));

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');
const known = OrderKeys.create(orderKeys, 'ORDER_KEYS');
type Signed = Record<string, string>;
const show = async (txId: string, signed: Signed, keys: Promise<OrderKeys> | null = known, ask: AskForOrders = nobody) => {
  const given = await keys;
  const sources: OrderSources = {
    database: fixture.database,
    keys: given,
    findSigned: () => Promise.resolve(new Map(Object.entries(signed))),
    findKept: (wanted) => findKeptOrders(ask, given, wanted),
  };
  return showOrders(sources, txId);
};
const nobody: AskForOrders = () => Promise.resolve([{ node: 1, problem: 'down' }]);
/** Nodes that keep these orders and show them a few at a time. */
const keeping =
  (orders: string[], at = 2): AskForOrders =>
  (after) => {
    const kept = orders.filter((order) => claimsOf(order).seq > (after[2] ?? 0)).map((compact) => ({ compact, unsigned: null }));
    const answer = { newest: null, orders: kept.slice(0, at), is_complete: kept.length <= at };
    return Promise.resolve([
      { node: 1, problem: 'down' },
      { node: 2, answer },
    ]);
  };

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
      order_sha256: sha256(order),
      digests: signers[0]?.digests,
      bytes_sha256: sha256(Buffer.from(unsigned.slice(2), 'hex')),
    },
  ]);
});

test('only the signature of a configured key over the stored claims is valid', async () => {
  const txId = await locked();
  const { order } = await begun(fixture, { txId });
  const claims = claimsOf(order);
  const { privateKey } = newKeyPair('ed25519');
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

test('an order that no history has any more is shown as the nodes keep it, if a configured key has signed it', async () => {
  const transfers = [await locked(), await locked(), await locked()];
  const orders = [];
  for (const txId of transfers) orders.push((await begun(fixture, { txId })).order);
  const [txId, order] = [transfers[0] as string, orders[0] as string];
  const claims = claimsOf(order);
  const { privateKey } = newKeyPair('ed25519');
  const forged = await forgeOrder(claims, { key: privateKey });
  const kept = (asked: string, ask: AskForOrders) => show(asked, {}, known, ask);
  expect(await kept(txId, keeping(orders))).toMatchObject([{ signature: 'valid', order_sha256: sha256(order) }]);
  expect(await kept(transfers[2] as string, keeping(orders))).toMatchObject([{ signature: 'valid' }]);
  expect(await kept(txId, keeping([order, forged]))).toMatchObject([{ signature: 'valid', order_sha256: sha256(order) }]);
  expect(await kept(txId, keeping([forged]))).toMatchObject([{ signature: 'missing' }]);
  expect(await kept(txId, nobody)).toMatchObject([{ signature: 'missing' }]);
  // what a history has is not asked for
  const fail: AskForOrders = () => Promise.reject(new Error('asked'));
  expect(await show(txId, { [claims.jti]: order }, known, fail)).toMatchObject([{ signature: 'valid' }]);
});

test('a node that is down is waited for once, however many orders are asked for, and a slow one not for ever', async () => {
  const wanted = Array.from({ length: 8 }, (_, at) => ({ jti: newId(), seq: 1_000 * (at + 1) }));
  const asked: Parameters<AskForOrders>[0][] = [];
  const ask: AskForOrders = (after) => {
    asked.push(after);
    const answer = { newest: null, orders: [], is_complete: true };
    return Promise.resolve([{ node: 1, problem: 'no response in time' }, ...([2, 3] as const).map((node) => ({ node, answer }))]);
  };
  await findKeptOrders(ask, await known, wanted);
  expect(asked).toHaveLength(8);
  expect(asked.slice(0, 2)).toEqual([
    { 1: 999, 2: 999, 3: 999 },
    { 2: 1_999, 3: 1_999 },
  ]);
  const now = jest.spyOn(Date, 'now');
  let clock = 0;
  now.mockImplementation(() => (clock += 3_000));
  asked.length = 0;
  await findKeptOrders(ask, await known, wanted);
  now.mockRestore();
  expect(asked.length).toBeLessThan(4);
});

test('an unknown transfer is an error', async () => {
  for (const txId of [newId(), 'nope'])
    await expect(show(txId, {})).rejects.toMatchObject({ code: 'not_found', message: `transaction ${txId} not found` });
});
