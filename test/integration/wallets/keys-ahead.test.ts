import { createAuthoriserActivities } from '../../../activities/authoriser';
import { getFamily } from '../../../src/chains/families';
import type { ClaimsOf } from '../../../src/messages/order';
import { Orders } from '../../../src/orders/orders';
import { newId } from '../../../src/platform/ids';
import { WalletEntity } from '../../../src/wallets/entity';
import { isWanted } from '../../../src/wallets/keys-ahead';
import { nodeKeys } from '../../node-refusals';
import { claimsOf, deployment, orderSigner } from '../../orders';
import { createFixture, registry, type Fixture } from '../ledger/fixture';

const keyPoolSize = 2;

let fixture: Fixture;
beforeEach(async () => {
  fixture = await createFixture({ poolSize: 8 });
});
afterEach(() => fixture.close());

const authoriser = async () => {
  const orders = new Orders({ signer: await orderSigner, deployment });
  return createAuthoriserActivities({ database: fixture.database, registry, getFamily, orders, nodeKeys, keyPoolSize });
};
const newKey = () => ({ keyId: `ahead-${newId()}.1` });
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
    await fixture.database.query('insert into keys_ahead (key_id) values ($1)', [key.keyId]);
    await activities.offerKeyAhead(key);
  }
  return keys.map(({ keyId }) => keyId);
};
const rows = () =>
  fixture.database.query<{ key_id: string; wallet_id: string | null }[]>('select key_id, wallet_id from keys_ahead');

test('a key is ordered for no client, tested by further orders, and offered once', async () => {
  const activities = await authoriser();
  const key = newKey();
  const ordered = await activities.orderKeyAhead(key);
  expect(claimsOf<ClaimsOf<'generate_key'>>(ordered?.order ?? '')).toMatchObject({ key_id: key.keyId, client_id: null });
  expect(await activities.orderKeyAhead(key)).not.toBeNull();
  const { walletId } = await newWallet();
  // it is not offered yet
  expect(await activities.takeKeyAhead({ walletId })).toBeNull();
  await activities.offerKeyAhead(key);
  await activities.offerKeyAhead(key);
  await expect(activities.orderKeyAhead(key)).rejects.toMatchObject({ code: 'business_error' });
  await expect(activities.offerKeyAhead(newKey())).rejects.toMatchObject({ code: 'not_found' });
  expect(await activities.takeKeyAhead({ walletId })).toEqual(key);
});

test.each(['x.1', `${newId()}.1`, `ahead-${newId()}.2`, `ahead-${'-'.repeat(36)}.1`])(
  'no key ahead is ordered as %s',
  async (keyId) => {
    const activities = await authoriser();
    await expect(activities.orderKeyAhead({ keyId })).rejects.toMatchObject({ code: 'invalid_parameter' });
    expect(await fixture.database.query('select 1 from orders')).toEqual([]);
  },
);

test('a wallet takes one key, the same however often it is asked for, and is bound to it by an order with its ids', async () => {
  const activities = await authoriser();
  const [first, second] = await offered(2);
  const [one, two] = [await newWallet(), await newWallet()];
  for (let time = 1; time <= 3; time += 1) expect(await activities.takeKeyAhead(one)).toEqual({ keyId: first });
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
  expect(await activities.takeKeyAhead(two)).toEqual({ keyId: second });
  expect(await activities.takeKeyAhead(await newWallet())).toBeNull();
});

test('many wallets at once take each key once', async () => {
  const activities = await authoriser();
  const keys = await offered(5);
  const wallets = await Promise.all(Array.from({ length: 8 }, newWallet));
  // each is asked for twice, as by an activity whose answer was lost
  const taken = await Promise.all([...wallets, ...wallets].map((wallet) => activities.takeKeyAhead(wallet)));
  const again = await Promise.all(wallets.map((wallet) => activities.takeKeyAhead(wallet)));
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
  await expect(activities.takeKeyAhead({ walletId: fixture.wallet.walletId })).rejects.toMatchObject({ code: 'business_error' });
  await expect(activities.takeKeyAhead({ walletId: newId() })).rejects.toMatchObject({ code: 'not_found' });
  expect(await rows()).toMatchObject([{ wallet_id: null }]);
});

test('whose a key is is written once, and no row is removed', async () => {
  const activities = await authoriser();
  await offered(1);
  await activities.takeKeyAhead(await newWallet());
  const { walletId } = await newWallet();
  for (const statement of [
    `update keys_ahead set wallet_id = '${walletId}'`,
    'update keys_ahead set wallet_id = null, taken_at = null',
    'update keys_ahead set offered_at = null',
    'delete from keys_ahead',
  ])
    await expect(fixture.database.query(statement)).rejects.toThrow();
});

test('a key whose binding the nodes have shown, as after a restore, is not taken by another wallet', async () => {
  const activities = await authoriser();
  const [keyId] = await offered(1);
  const claims = { jti: newId(), seq: 1, kind: 'bind_key', key_id: keyId };
  await fixture.database.query('insert into orders (jti, seq, kind, claims) values ($1, 1, $2, $3)', [
    ...[claims.jti, claims.kind, JSON.stringify(claims)],
  ]);
  expect(await activities.takeKeyAhead(await newWallet())).toBeNull();
});

test('keys are ordered ahead up to the size of the pool, not while wallets wait, and 400 in an hour at most', async () => {
  const activities = await authoriser();
  const { database } = fixture;
  await offered(keyPoolSize - 1);
  expect(await activities.orderKeyAhead(newKey())).not.toBeNull();
  const [last] = await offered(1);
  expect(await activities.orderKeyAhead(newKey())).toBeNull();
  expect(await isWanted(database.manager, keyPoolSize)).toBe(false);
  expect(await isWanted(database.manager, 0)).toBe(false);
  const { walletId } = await newWallet();
  await activities.takeKeyAhead({ walletId });
  // one is missing, but a wallet waits
  expect(await activities.orderKeyAhead(newKey())).toBeNull();
  await database.query('alter table wallets disable trigger user');
  await database.query(
    `update wallets set key_status = 'ACTIVE', key_id = $2, public_key = decode(repeat('02', 33), 'hex'), chain_code = decode(repeat('02', 32), 'hex')
      where wallet_id = $1`,
    [walletId, last],
  );
  expect(await isWanted(database.manager, keyPoolSize)).toBe(true);
  await database.query(
    `insert into keys_ahead (key_id) select 'ahead-' || gen_random_uuid() || '.1' from generate_series(1, 400)`,
  );
  await expect(activities.orderKeyAhead(newKey())).rejects.toMatchObject({ code: 'rate_limited' });
});
