import { getFamily } from '../../../src/chains/families';
import { hashPage } from '../../../src/platform/page-hash';
import type { ClaimsOf } from '../../../src/messages/order';
import { Orders } from '../../../src/orders/orders';
import { newId } from '../../../src/platform/ids';
import { createAuthoriserActivities } from '../../../activities/authoriser';
import { WalletEntity } from '../../../src/wallets/entity';
import { randomAddress } from '../../factories';
import { claimsOf, deployment, orderSigner } from '../../orders';
import { nodeKeys } from '../../node-refusals';
import { createFixture, registry, type Fixture } from '../ledger/fixture';
import { listAddress } from '../screening/factors';

let fixture: Fixture;
let walletId: string;
beforeEach(async () => {
  fixture = await createFixture();
  walletId = newId();
  const { clientId } = fixture.client;
  await fixture.database.manager.insert(WalletEntity, {
    walletId,
    clientId,
    walletName: 'new',
    status: 'PROGRESSING',
    keyStatus: 'GENERATING',
  });
});
afterEach(() => fixture.close());

const authoriser = async () => {
  const orders = new Orders({ signer: await orderSigner, deployment });
  return createAuthoriserActivities({ database: fixture.database, registry, getFamily, orders, nodeKeys });
};

test('a key is ordered and bound for the wallet and its client', async () => {
  const activities = await authoriser();
  const key = { walletId, keyId: `${walletId}.1` };
  const { clientId } = fixture.client;
  const generation = claimsOf<ClaimsOf<'generate_key'>>((await activities.orderKeyGeneration(key)).order);
  const binding = claimsOf<ClaimsOf<'bind_key'>>((await activities.orderKeyBinding(key)).order);
  expect(generation).toMatchObject({ kind: 'generate_key', key_id: key.keyId, client_id: clientId });
  expect(binding).toMatchObject({ kind: 'bind_key', key_id: key.keyId, wallet_id: walletId, client_id: clientId });
  expect(binding.seq).toBeGreaterThan(generation.seq);
  const rows = await fixture.database.query<{ claims: object }[]>('select claims from orders order by seq');
  expect(rows.map(({ claims }) => claims)).toEqual([generation, binding]);
});

test.each([
  ['for a wallet that is not there', () => ({ walletId: newId(), keyId: 'x.1' }), 'not_found'],
  ['under a key id of another wallet', () => ({ walletId, keyId: `${newId()}.1` }), 'invalid_parameter'],
  ['under a key id without a number', () => ({ walletId, keyId: `${walletId}.x` }), 'invalid_parameter'],
  [
    'for a wallet that has a key',
    () => ({ walletId: fixture.wallet.walletId, keyId: `${fixture.wallet.walletId}.2` }),
    'business_error',
  ],
])('no key is ordered %s', async (_what, key, code) => {
  const activities = await authoriser();
  await expect(activities.orderKeyGeneration(key())).rejects.toMatchObject({ code });
  await expect(activities.orderKeyBinding(key())).rejects.toMatchObject({ code });
  expect(await fixture.database.query('select 1 from orders')).toEqual([]);
});

/** As many orders as were issued at some time in the past. */
const issuedBefore = (count: number, claims: object, ago = '1 minute') =>
  fixture.database.query(
    `insert into orders (jti, seq, kind, claims, issued_at)
     select id, n, $2::jsonb ->> 'kind', $2::jsonb || jsonb_build_object('jti', id, 'seq', n), clock_timestamp() - $3::interval
       from (select gen_random_uuid() as id, nextval('order_numbers') as n from generate_series(1, $1)) numbered`,
    [count, JSON.stringify(claims), ago],
  );

describe('orders are limited', () => {
  const keyOf = (attempt: number) => ({ walletId, keyId: `${walletId}.${attempt}` });

  test.each([
    ['generate_key', 'orderKeyGeneration'],
    ['bind_key', 'orderKeyBinding'],
  ] as const)('%s for one key, whenever they were issued', async (kind, order) => {
    const activities = await authoriser();
    await issuedBefore(99, { kind, key_id: keyOf(1).keyId }, '1 day');
    await activities[order](keyOf(1));
    await expect(activities[order](keyOf(1))).rejects.toMatchObject({
      code: 'order_refused',
      message: `key_id: ${kind} was ordered 100 times for this key, and is not again`,
    });
    await expect(activities[order](keyOf(2))).resolves.toBeDefined();
  });

  test('for the keys of one wallet within an hour', async () => {
    const activities = await authoriser();
    await issuedBefore(600, { kind: 'bind_key', key_id: `${walletId}.1` }, '61 minutes');
    await issuedBefore(500, { kind: 'generate_key', key_id: `${newId()}.1` });
    await issuedBefore(499, { kind: 'generate_key', key_id: `${walletId}.2` });
    await activities.orderKeyGeneration(keyOf(3));
    for (const order of ['orderKeyGeneration', 'orderKeyBinding'] as const)
      await expect(activities[order](keyOf(4))).rejects.toMatchObject({ code: 'rate_limited' });
  });

  test('for one page of a blacklist within an hour', async () => {
    const { clientId } = fixture.client;
    const activities = await authoriser();
    for (let address = 0; address < 2; address += 1) await listAddress(fixture.database, fixture.account, randomAddress());
    const page = { kind: 'blacklist_page', client_id: clientId, after: 0 };
    await issuedBefore(400, page, '61 minutes');
    await issuedBefore(399, page);
    const first = await activities.orderBlacklistPage({ clientId, after: 0 });
    await expect(activities.orderBlacklistPage({ clientId, after: 0 })).rejects.toMatchObject({ code: 'rate_limited' });
    expect(claimsOf<ClaimsOf<'blacklist_page'>>(first?.order ?? '').through).toBeGreaterThan(1);
    expect(await activities.orderBlacklistPage({ clientId, after: 1 })).not.toBeNull();
  });
});

test('a page of a blacklist is ordered by the hash of what the database says', async () => {
  const { clientId } = fixture.client;
  const activities = await authoriser();
  expect(await activities.orderBlacklistPage({ clientId, after: 0 })).toBeNull();
  const address = randomAddress();
  await listAddress(fixture.database, fixture.account, address);
  const page = await activities.orderBlacklistPage({ clientId, after: 0 });
  if (!page) throw new Error('no page');
  expect(page.changes).toEqual([{ chain: 'ethereum', addressKey: address.toLowerCase(), listed: true }]);
  expect(claimsOf(page.order)).toMatchObject({
    kind: 'blacklist_page',
    client_id: clientId,
    after: 0,
    sha256: hashPage(page.changes),
  });
  await expect(activities.orderBlacklistPage({ clientId: 'x', after: 0 })).rejects.toMatchObject({ code: 'not_found' });
});
