import type { DataSource } from 'typeorm';
import { createAuthoriserActivities } from '../../../activities/authoriser';
import { getFamily } from '../../../src/chains/families';
import type { ClaimsOf } from '../../../src/messages/order';
import { Orders } from '../../../src/orders/orders';
import { newId } from '../../../src/platform/ids';
import { WalletEntity } from '../../../src/wallets/entity';
import { isWanted } from '../../../src/wallets/pooled-keys';
import { nodeKeys } from '../../node-refusals';
import { claimsOf, deployment, orderSigner } from '../../orders';
import { openDatabase } from '../../stack/database';
import { createFixture, registry, type Fixture } from '../ledger/fixture';

const keyPoolSize = 2;

let fixture: Fixture;
/** With the rights of its process. */
let login: DataSource;
beforeEach(async () => {
  fixture = await createFixture({ poolSize: 8 });
  login = await openDatabase((await fixture.logins()).gateway_authoriser, { poolSize: 8 });
  await fixture.database.query('update order_comparison set compared_as = database_incarnation()');
});
afterEach(async () => {
  await login.destroy();
  await fixture.close();
});

const authoriser = async (size = keyPoolSize) => {
  const orders = new Orders({ signer: await orderSigner, deployment });
  return createAuthoriserActivities({ database: login, registry, getFamily, orders, nodeKeys, keyPoolSize: size });
};
const newKey = () => ({ keyId: `pool-${newId()}.1` });
const newWallet = async () => {
  const walletId = newId();
  const { clientId } = fixture.client;
  const state = { status: 'PROGRESSING', keyStatus: 'GENERATING' } as const;
  await fixture.database.manager.insert(WalletEntity, { walletId, clientId, walletName: 'new', ...state });
  return { walletId };
};
const offered = async (count: number) => {
  const activities = await authoriser();
  const keys = Array.from({ length: count }, newKey);
  for (const key of keys) {
    await order('generate_key', key);
    await activities.offerPooledKey(key);
  }
  return keys.map(({ keyId }) => keyId);
};
/** As the authoriser has issued it, or as it was taken back from the nodes. */
const order = (kind: string, { keyId, walletId }: { keyId: string; walletId?: string }, times = 1) =>
  fixture.database.query(
    `insert into orders (jti, seq, kind, claims)
     select jti, seq, $1, $2::jsonb || jsonb_build_object('jti', jti, 'seq', seq, 'kind', $1::text)
       from (select gen_random_uuid() as jti, nextval('order_numbers') as seq from generate_series(1, $3)) made`,
    [kind, JSON.stringify({ key_id: keyId, wallet_id: walletId }), times],
  );
/** As in a database that was restored, which the nodes are not asked about yet. */
const restored = () => fixture.database.query(`update order_comparison set compared_as = 'before'`);
const rows = () =>
  fixture.database.query<{ key_id: string; wallet_id: string | null }[]>('select key_id, wallet_id from pooled_keys');

test('a key is ordered for no client, and may be taken once it is offered', async () => {
  const activities = await authoriser();
  const key = newKey();
  const ordered = await activities.orderPooledKey(key);
  expect(claimsOf<ClaimsOf<'generate_key'>>(ordered?.order ?? '')).toMatchObject({ key_id: key.keyId, client_id: null });
  const { walletId } = await newWallet();
  expect(await activities.takePooledKey({ walletId })).toBeNull();
  await activities.offerPooledKey(key);
  await activities.offerPooledKey(key);
  await expect(activities.offerPooledKey(newKey())).rejects.toMatchObject({ code: 'not_found' });
  expect(await activities.takePooledKey({ walletId })).toEqual(key);
  await activities.offerPooledKey(key);
  expect(await rows()).toEqual([{ key_id: key.keyId, wallet_id: walletId }]);
});

test.each(['x.1', `${newId()}.1`, `pool-${newId()}.2`, `pool-${'-'.repeat(36)}.1`])(
  'no key is ordered for the pool as %s',
  async (keyId) => {
    const activities = await authoriser();
    await expect(activities.orderPooledKey({ keyId })).rejects.toMatchObject({ code: 'invalid_parameter' });
    expect(await fixture.database.query('select 1 from orders')).toEqual([]);
  },
);

test('a wallet takes one key, the same however often it is asked for, and is bound to it by an order with its ids', async () => {
  const activities = await authoriser();
  const [first, second] = await offered(2);
  const [one, two] = [await newWallet(), await newWallet()];
  for (let time = 1; time <= 3; time += 1) expect(await activities.takePooledKey(one)).toEqual({ keyId: first });
  const { order } = await activities.orderKeyBinding({ ...one, keyId: first as string });
  expect(claimsOf<ClaimsOf<'bind_key'>>(order)).toMatchObject({
    key_id: first,
    wallet_id: one.walletId,
    client_id: fixture.client.clientId,
  });
  // neither one that another has taken, nor one that nobody has
  for (const keyId of [first, second])
    await expect(activities.orderKeyBinding({ ...two, keyId: keyId as string })).rejects.toMatchObject({
      code: 'invalid_parameter',
    });
  await expect(activities.orderKeyGeneration({ ...one, keyId: first as string })).rejects.toMatchObject({
    code: 'invalid_parameter',
  });
  expect(await activities.takePooledKey(two)).toEqual({ keyId: second });
  expect(await activities.takePooledKey(await newWallet())).toBeNull();
});

test('many wallets at once take each key once', async () => {
  const activities = await authoriser();
  const keys = await offered(5);
  const wallets = await Promise.all(Array.from({ length: 8 }, newWallet));
  // each is asked for twice, as by an activity whose answer was lost
  const taken = await Promise.all([...wallets, ...wallets].map((wallet) => activities.takePooledKey(wallet)));
  const again = await Promise.all(wallets.map((wallet) => activities.takePooledKey(wallet)));
  for (const [at, key] of again.entries()) {
    // a wallet that found none at first may find one that was locked then
    for (const earlier of [taken[at], taken[at + wallets.length]]) if (earlier) expect(earlier).toEqual(key);
  }
  expect(again.filter((key) => key !== null)).toHaveLength(5);
  const stored = await rows();
  expect(new Set(stored.map(({ wallet_id: walletId }) => walletId)).size).toBe(5);
  expect(new Set(again.filter((key) => key !== null).map(({ keyId }) => keyId))).toEqual(new Set(keys));
});

test('a wallet that has a key takes none, and an unknown one neither', async () => {
  const activities = await authoriser();
  await offered(1);
  await expect(activities.takePooledKey({ walletId: fixture.wallet.walletId })).rejects.toMatchObject({ code: 'business_error' });
  await expect(activities.takePooledKey({ walletId: newId() })).rejects.toMatchObject({ code: 'not_found' });
  expect(await rows()).toMatchObject([{ wallet_id: null }]);
});

test('with a pool of size 0 no wallet takes a key, also not the one that it had taken, and none is ordered', async () => {
  const [on, off] = [await authoriser(), await authoriser(0)];
  const [first] = await offered(2);
  const [one, two] = [await newWallet(), await newWallet()];
  expect(await on.takePooledKey(one)).toEqual({ keyId: first });
  for (const wallet of [one, two]) expect(await off.takePooledKey(wallet)).toBeNull();
  expect(await rows()).toContainEqual({ key_id: expect.not.stringMatching(String(first)), wallet_id: null });
  expect(await off.orderPooledKey(newKey())).toBeNull();
});

test('the key that a wallet has may be bound to it again, unless an order names another wallet; no other key may', async () => {
  const activities = await authoriser();
  const [first, second] = (await offered(2)) as [string, string];
  const wallet = await newWallet();
  await activities.takePooledKey(wallet);
  await activities.orderKeyBinding({ ...wallet, keyId: first });
  await activate(wallet.walletId, first);
  const { order: again } = await activities.orderKeyBinding({ ...wallet, keyId: first });
  expect(claimsOf<ClaimsOf<'bind_key'>>(again)).toMatchObject({ key_id: first, wallet_id: wallet.walletId });
  for (const keyId of [second, `${wallet.walletId}.1`])
    await expect(activities.orderKeyBinding({ ...wallet, keyId })).rejects.toMatchObject({ code: 'business_error' });
  await expect(activities.orderKeyGeneration({ ...wallet, keyId: first })).rejects.toMatchObject({ code: 'business_error' });
  await order('bind_key', { keyId: first, walletId: newId() });
  await expect(activities.orderKeyBinding({ ...wallet, keyId: first })).rejects.toMatchObject({ code: 'invalid_parameter' });
});

test('whose a key is is written once, and no row is removed', async () => {
  const activities = await authoriser();
  await offered(1);
  await activities.takePooledKey(await newWallet());
  const { walletId } = await newWallet();
  for (const statement of [
    `update pooled_keys set wallet_id = '${walletId}'`,
    'update pooled_keys set wallet_id = null, taken_at = null',
    'update pooled_keys set offered_at = now()',
    'delete from pooled_keys',
  ])
    await expect(fixture.database.query(statement)).rejects.toThrow();
});

describe('in a database that was restored, where a key is free that a wallet has', () => {
  test('none is taken before the orders of the nodes are compared', async () => {
    const activities = await authoriser();
    const [keyId] = await offered(1);
    const wallet = await newWallet();
    await restored();
    await expect(activities.takePooledKey(wallet)).rejects.toMatchObject({ code: 'reconcile_required' });
    expect(await rows()).toEqual([{ key_id: keyId, wallet_id: null }]);
  });

  test('one whose binding the nodes have shown is neither taken nor counted as free', async () => {
    const activities = await authoriser();
    const [keyId, other] = (await offered(keyPoolSize)) as [string, string];
    expect(await activities.orderPooledKey(newKey())).toBeNull();
    await order('bind_key', { keyId, walletId: newId() });
    expect(await isWanted(fixture.database.manager, keyPoolSize)).toBe(true);
    expect(await activities.orderPooledKey(newKey())).not.toBeNull();
    expect(await activities.takePooledKey(await newWallet())).toEqual({ keyId: other });
    expect(await activities.takePooledKey(await newWallet())).toBeNull();
  });

  test('one that is the key of a wallet is neither taken nor counted as free', async () => {
    const activities = await authoriser();
    const [keyId] = (await offered(1)) as [string];
    const { walletId } = await newWallet();
    await activate(walletId, keyId);
    expect(await activities.takePooledKey(await newWallet())).toBeNull();
    expect(await isWanted(fixture.database.manager, 1)).toBe(true);
  });

  test('one that was taken before the binding to another wallet was shown is bound to neither again', async () => {
    const activities = await authoriser();
    const [keyId] = (await offered(1)) as [string];
    const wallet = await newWallet();
    expect(await activities.takePooledKey(wallet)).toEqual({ keyId });
    await activities.orderKeyBinding({ ...wallet, keyId });
    // a second order for the same wallet is no contradiction
    await activities.orderKeyBinding({ ...wallet, keyId });
    await order('bind_key', { keyId, walletId: newId() });
    await expect(activities.orderKeyBinding({ ...wallet, keyId })).rejects.toMatchObject({ code: 'invalid_parameter' });
  });
});

async function activate(walletId: string, keyId: string): Promise<void> {
  await fixture.database.query('alter table wallets disable trigger user');
  await fixture.database.query(
    `update wallets set key_status = 'ACTIVE', key_id = $2, public_key = decode(repeat('02', 33), 'hex'), chain_code = decode(repeat('02', 32), 'hex')
      where wallet_id = $1`,
    [walletId, keyId],
  );
}

test('keys are ordered up to the size of the pool, whatever waits for one, and 400 times in an hour', async () => {
  const activities = await authoriser();
  const { database } = fixture;
  await offered(keyPoolSize - 1);
  expect(await activities.orderPooledKey(newKey())).not.toBeNull();
  await offered(1);
  expect(await activities.orderPooledKey(newKey())).toBeNull();
  expect(await isWanted(database.manager, keyPoolSize)).toBe(false);
  expect(await isWanted(database.manager, 0)).toBe(false);
  const wallet = await newWallet();
  await activities.takePooledKey(wallet);
  // the wallet waits, perhaps for ever
  expect(await activities.orderPooledKey(newKey())).not.toBeNull();
  await order('generate_key', newKey(), 400);
  await expect(activities.orderPooledKey(newKey())).rejects.toMatchObject({ code: 'rate_limited' });
  // neither those of before nor those of wallets count
  await database.query('alter table orders disable trigger user');
  await database.query(`update orders set issued_at = issued_at - interval '1 hour' where claims ->> 'key_id' like 'pool-%'`);
  await order('generate_key', { keyId: `${wallet.walletId}.1` }, 400);
  expect(await activities.orderPooledKey(newKey())).not.toBeNull();
});

test('several authorisers at once order no more than 400 in an hour together', async () => {
  const activities = await authoriser(10);
  await order('generate_key', newKey(), 399);
  // each has a connection that is open: to open one takes longer than to order a key
  await Promise.all(Array.from({ length: 8 }, () => login.query('select pg_sleep(0.2)')));
  const asked = await Promise.allSettled(Array.from({ length: 8 }, () => activities.orderPooledKey(newKey())));
  expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const each of asked) if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'rate_limited' });
});
