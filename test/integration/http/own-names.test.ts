import { ChainRegistry } from '../../../src/chains/registry';
import { solana } from '../../../src/chains/registry/solana';
import { newId } from '../../../src/platform/ids';
import { buildFunded, buildTenant, createFixture, expectProblem, type Fixture, registry, type Tenant } from './fixture';

/** What clients call their wallets and accounts: unique for each client and kind, also for requests at the same time. */

let fixture: Fixture;
let tenant: Tenant;
let walletIds: string[];
beforeAll(async () => {
  const chains = new ChainRegistry([...registry.all, ...solana.local]);
  fixture = await createFixture({ poolSize: 20, chains });
});
beforeEach(async () => {
  tenant = await buildTenant(fixture);
  const funded = [await buildFunded(fixture, tenant), await buildFunded(fixture, tenant)];
  walletIds = funded.map(({ wallet }) => wallet.walletId);
});
afterAll(() => fixture.close());

type Kind = 'wallet' | 'account';
const bodyOf = (kind: Kind, externalId: unknown, changes: object = {}): object =>
  kind === 'wallet'
    ? { wallet_name: 'w', external_id: externalId, ...changes }
    : { wallet_id: walletIds[0], chain: 'ethereum', external_id: externalId, ...changes };
const create = (kind: Kind, body: object, key?: string) =>
  fixture.call('POST', `/${kind}s`, { tenant, body, headers: key === undefined ? {} : { 'Idempotency-Key': key } });
const list = async (kind: Kind, query: string, as = tenant) =>
  (await fixture.call('GET', `/${kind}s?${query}`, { tenant: as })).body;

describe.each<[Kind, string]>([
  ['wallet', 'wallet_id'],
  ['account', 'account_id'],
])('the external id of a %s', (kind, idField) => {
  test('is shown, and finds it for its client alone', async () => {
    const id = `Customer.17:a_b-${newId()}`;
    const created = await create(kind, bodyOf(kind, id));
    expect([created.status, created.body['external_id']]).toEqual([201, id]);
    await create(kind, bodyOf(kind, undefined));
    expect(await list(kind, `external_id=${id}`)).toEqual({ data: [created.body], total: 1, has_more: false });
    expect(await list(kind, `external_id=${id}&page=2`)).toEqual({ data: [], total: 1, has_more: false });
    expect(await list(kind, `external_id=${id.toUpperCase()}`)).toEqual({ data: [], total: 0, has_more: false });
    expect(await list(kind, `external_id=${id}`, fixture.other)).toEqual({ data: [], total: 0, has_more: false });
    const found = await fixture.call('GET', `/${kind}s/${String(created.body[idField])}`, { tenant });
    expect(found.body).toMatchObject({ external_id: id });
    expectProblem(await fixture.call('GET', `/${kind}s?external_id=a%20b`, { tenant }), 400, 'invalid_parameter', 'external_id');
  });

  test('is refused for a second one, whatever it asks for, and nothing is created', async () => {
    const id = newId();
    const first = bodyOf(kind, id);
    expect((await create(kind, first)).status).toBe(201);
    const { total } = await list(kind, '');
    expectProblem(await create(kind, first), 409, 'external_id_in_use', 'external_id');
    expectProblem(await create(kind, first, newId()), 409, 'external_id_in_use', 'external_id');
    const other = kind === 'wallet' ? { wallet_name: 'other' } : { wallet_id: walletIds[1], chain: 'base' };
    expectProblem(await create(kind, bodyOf(kind, id, other)), 409, 'external_id_in_use', 'external_id');
    expect(await list(kind, '')).toMatchObject({ total });
    const [pending] = await fixture.database.query<{ n: number }[]>(
      `select count(*)::int as n from audit_events where client_id = $1 and action = $2`,
      [tenant.clientId, `${kind}.created`],
    );
    expect(pending?.n).toBe(1);
    expect((await create(kind, bodyOf(kind, id.toUpperCase()))).status).toBe(201);
  });

  test('is that of one of many requests at once; the others are refused', async () => {
    const id = newId();
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => {
        // accounts of two wallets: one wallet's requests wait for each other anyway
        const changes = kind === 'wallet' ? {} : { wallet_id: walletIds[n % 2] };
        return create(kind, bodyOf(kind, id, changes), n % 3 ? `key-${n}-${id}` : undefined);
      }),
    );
    expect(answers.map(({ status, body }) => (status === 201 ? 201 : body['code'])).sort()).toEqual([
      201,
      ...Array.from({ length: 9 }, () => 'external_id_in_use'),
    ]);
    expect((await list(kind, `external_id=${id}`)).data).toHaveLength(1);
  });

  test('belongs to what its Idempotency-Key gives again, answered or not; another id is another request', async () => {
    const [id, key] = [newId(), newId()];
    const body = bodyOf(kind, id);
    const first = await create(kind, body, key);
    const again = await create(kind, body, key);
    expect([first.status, again.status, again.text, again.headers.get('idempotency-replayed')]).toEqual([
      201,
      201,
      first.text,
      'true',
    ]);
    expectProblem(await create(kind, bodyOf(kind, newId()), key), 422, 'idempotency_key_reused');
    // as after a crash between the commit and the stored answer
    await fixture.database.query(
      `update idempotency_keys set response_status = null, leased_until = clock_timestamp() - interval '1 second' where key = $1`,
      [key],
    );
    const resumed = await create(kind, body, key);
    expect([resumed.status, resumed.body]).toEqual([201, first.body]);
  });

  test('has a form, and never changes', async () => {
    for (const id of ['', 'a b', 'ä', 'a/b', 'x'.repeat(65), 1, null, 'a\n'])
      expectProblem(await create(kind, bodyOf(kind, id)), 400, 'invalid_parameter', 'external_id');
    const { body } = await create(kind, bodyOf(kind, 'x'.repeat(64)));
    for (const value of [`'y'`, 'null'])
      await expect(
        fixture.database.query(`update ${kind}s set external_id = ${value} where ${idField} = $1`, [body[idField]]),
      ).rejects.toThrow(/cannot change/);
  });
});

test('wallets and accounts of one client, and those of two clients, may have the same', async () => {
  const id = newId();
  expect((await create('wallet', bodyOf('wallet', id))).status).toBe(201);
  expect((await create('account', bodyOf('account', id))).status).toBe(201);
  tenant = await buildTenant(fixture);
  walletIds = [(await buildFunded(fixture, tenant)).wallet.walletId];
  expect((await create('wallet', bodyOf('wallet', id))).status).toBe(201);
  expect((await create('account', bodyOf('account', id))).status).toBe(201);
});

test('the list of accounts has the other filters beside it', async () => {
  const id = newId();
  const { body } = await create('account', bodyOf('account', id));
  const found = { data: [body], total: 1, has_more: false };
  const none = { data: [], total: 0, has_more: false };
  expect(await list('account', `external_id=${id}&chain=ethereum&wallet_id=${walletIds[0]}`)).toEqual(found);
  expect(await list('account', `external_id=${id}&chain=base`)).toEqual(none);
  expect(await list('account', `external_id=${id}&wallet_id=${walletIds[1]}`)).toEqual(none);
});

test('an account that has a key of its own is refused before the nodes generate it', async () => {
  const id = newId();
  await create('account', bodyOf('account', id));
  const chain = solana.local[0]?.name;
  expectProblem(await create('account', bodyOf('account', id, { chain })), 409, 'external_id_in_use', 'external_id');
  const { length } = await fixture.database.query<unknown[]>('select from account_key_requests');
  expect(length).toBe(0);
});
