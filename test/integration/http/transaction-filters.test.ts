import { recordDeposits } from '../../../src/deposits/record';
import { newId } from '../../../src/platform/ids';
import { buildDeposit, randomAddress } from '../../factories';
import {
  buildFunded,
  buildTenant,
  createFixture,
  ethereum,
  expectProblem,
  type Fixture,
  type Funded,
  type Tenant,
} from './fixture';

/** The filters of GET /transactions, and its pages by cursor. */

let fixture: Fixture;
let tenant: Tenant;
let funded: Funded;
beforeAll(async () => void (fixture = await createFixture()));
beforeEach(async () => {
  tenant = await buildTenant(fixture);
  funded = await buildFunded(fixture, tenant);
});
afterAll(() => fixture.close());

const list = (query: string, as = tenant) => fixture.call('GET', `/transactions?${query}`, { tenant: as });
const idsOf = async (query: string, as = tenant): Promise<string[]> =>
  (await list(query, as)).body.data.map((tx) => String(tx['tx_id']));

async function transfer(to = randomAddress()): Promise<string> {
  const body = { from_address: funded.account.address, to_address: to, chain: 'ethereum', token_symbol: 'USDC', amount: '1' };
  return String((await fixture.call('POST', '/transfer', { tenant, body })).body['tx_id']);
}

/** `count` deposits that one database transaction stores: all of one time. */
const deposit = (count: number) =>
  fixture.database.transaction((manager) =>
    recordDeposits(
      manager,
      ethereum,
      Array.from({ length: count }, () => buildDeposit(funded.account, ethereum, 'ETH', 5n)),
    ),
  );

/** All pages from the first on; `between` is done before each of the others. */
async function follow(query: string, between: () => Promise<unknown> = () => Promise.resolve()): Promise<string[]> {
  const seen: string[] = [];
  let after = '';
  for (let pages = 0; pages < 30; pages += 1) {
    const { body } = await list(`${query}${after}`);
    seen.push(...body.data.map((tx) => String(tx['tx_id'])));
    expect(body['next'] === null).toBe(!body['has_more']);
    if (body['next'] === null) return seen;
    after = `&after=${String(body['next'])}`;
    await between();
  }
  throw new Error('the list does not end');
}

const stored = async (): Promise<string[]> =>
  (
    await fixture.database.query<{ tx_id: string }[]>('select tx_id from transactions where client_id = $1 order by tx_id desc', [
      tenant.clientId,
    ])
  ).map((row) => row.tx_id);

test('several states with commas between them: what is in one of them', async () => {
  const [kept, cancelled] = [await transfer(), await transfer()];
  await fixture.call('POST', `/transactions/${cancelled}/cancel`, { tenant });
  expect(await idsOf('status=CANCELLED')).toEqual([cancelled]);
  expect(await idsOf('status=PENDING,CANCELLED,PENDING')).toEqual([cancelled, kept]);
  expect((await list('status=CONFIRMED')).body).toMatchObject({ total: 2, has_more: false });
  expect((await list('status=REJECTED')).body).toEqual({ data: [], total: 0, total_is_exact: true, has_more: false, next: null });
  expect(await idsOf('status=PENDING,CANCELLED', fixture.other)).toEqual([]);
  for (const status of ['PENDING,', 'pending', 'PENDING;FAILED', 'PENDING,LOST'])
    expectProblem(await list(`status=${status}`), 400, 'invalid_parameter', 'status');
});

test('a hash finds its transaction, in capitals too, and one of another client does not', async () => {
  const [first] = (await list('status=CONFIRMED')).body.data;
  const hash = String(first?.['tx_hash']);
  for (const text of [hash, hash.toUpperCase().replace('0X', '0x')])
    expect(await idsOf(`tx_hash=${encodeURIComponent(text)}`)).toEqual([first?.['tx_id']]);
  expect(await idsOf(`tx_hash=${hash}`, fixture.other)).toEqual([]);
  for (const text of ['%00', 'a%00b', '', 'x'.repeat(129), '%F0%9F%92%A5'])
    expectProblem(await list(`tx_hash=${text}`), 400, 'invalid_parameter', 'tx_hash');
});

test('addresses are compared by value and not by letter case', async () => {
  const to = randomAddress();
  const txId = await transfer(to);
  await transfer();
  for (const text of [to, to.toLowerCase(), to.toUpperCase().replace('0X', '0x')]) {
    expect(await idsOf(`to_address=${text}`)).toEqual([txId]);
    expect(await idsOf(`to_address=${text}&chain=base`)).toEqual([]);
  }
  expect((await list(`from_address=${funded.account.address.toLowerCase()}`)).body).toMatchObject({ total: 2 });
  // deposits
  expect((await list(`to_address=${funded.account.address}`)).body).toMatchObject({ total: 2 });
  expect(await idsOf(`to_address=${to}&status=CANCELLED`)).toEqual([]);
  expectProblem(await list('to_address=nobody'), 400, 'invalid_parameter', 'to_address');
  expectProblem(await list('from_address=0x12'), 400, 'invalid_parameter', 'from_address');
});

test('a period has its first moment and not its last one', async () => {
  const txId = await transfer();
  const at = new Date('2025-03-01T10:00:00.000Z');
  await fixture.database.transaction(async (manager) => {
    await manager.query(`set local session_replication_role = 'replica'`);
    await manager.query('update transactions set created_at = $2 where tx_id = $1', [txId, at]);
  });
  const period = (after: string, before: string) =>
    idsOf(new URLSearchParams({ created_after: after, created_before: before }).toString());
  expect(await period('2025-03-01T10:00:00Z', '2025-03-01T10:00:00.001Z')).toEqual([txId]);
  expect(await period('2025-03-01T11:00:00+01:00', '2025-03-01T05:00:01-05:00')).toEqual([txId]);
  expect(await period('2025-03-01T10:00:00.001Z', '2025-04-01T00:00:00Z')).toEqual([]);
  expect(await period('2025-02-01T00:00:00Z', '2025-03-01T10:00:00Z')).toEqual([]);
  for (const time of [
    '2025-02-29T00:00:00Z',
    '2025-13-01T00:00:00Z',
    '2025-03-01',
    '2025-03-01T00:00:00',
    '0000-01-01T00:00:00Z',
    '1',
  ])
    expectProblem(await list(`created_after=${time}`), 400, 'invalid_parameter', 'created_after');
});

test('of a chain that is not enabled there is nothing, with an address or without', async () => {
  for (const query of ['chain=nochain', 'chain=nochain&to_address=x', 'chain=nochain&from_address=x&status=PENDING'])
    expect(await list(query)).toMatchObject({ status: 200, body: { data: [], total: 0, has_more: false, next: null } });
});

test('by cursor every transaction comes once and in order, whatever arrives meanwhile and however many have one time', async () => {
  await deposit(7);
  for (let times = 0; times < 3; times += 1) await transfer();
  await deposit(4);
  const expected = await stored();
  expect(expected).toHaveLength(16);
  for (const size of [1, 3, 5, 16]) expect(await follow(`page_size=${size}`)).toEqual(expected);
  expect(await follow('page_size=3', () => deposit(2))).toEqual(expected);
  const confirmed = await idsOf('status=CONFIRMED,DETECTED&page_size=100');
  const before = await stored();
  expect(await follow('page_size=4&status=CONFIRMED,PENDING,DETECTED', transfer)).toEqual(before);
  expect(await follow('page_size=2&status=CONFIRMED,DETECTED')).toEqual(confirmed);
});

test('pages by number and by cursor have the same order, and a page’s next continues it', async () => {
  await deposit(5);
  const expected = await stored();
  const second = (await list('page=2&page_size=3')).body;
  expect(second.data.map((tx) => tx['tx_id'])).toEqual(expected.slice(3, 6));
  expect(await idsOf(`page_size=3&after=${String(second['next'])}`)).toEqual(expected.slice(6));
});

test('the pages of a wallet, an account or a chain by cursor: all of its own, and nothing for another client or another wallet', async () => {
  await deposit(5);
  const expected = await stored();
  const { walletId, accountId } = funded.account;
  const newest = 'after=ffffffff-ffff-7fff-bfff-ffffffffffff';
  const nothing = { data: [], total: 0, total_is_exact: true, has_more: false, next: null };
  for (const query of [`wallet_id=${walletId}`, `account_id=${accountId}`, `wallet_id=${walletId}&account_id=${accountId}`]) {
    for (const filter of [query, `${query}&chain=ethereum`]) {
      expect(await follow(`${filter}&page_size=3`)).toEqual(expected);
      expect((await list(`${filter}&${newest}`)).body).toMatchObject({ total: 7, total_is_exact: true, has_more: false });
      expect((await list(`${filter}&${newest}`, fixture.other)).body).toEqual(nothing);
    }
    expect((await list(`${query}&chain=base&${newest}`)).body).toEqual(nothing);
  }
  expect((await list(`wallet_id=${newId()}&account_id=${accountId}&${newest}`)).body).toEqual(nothing);
});

test('what is no cursor is refused, and so is a cursor with a page', async () => {
  const cursor = '00000000-0000-7000-8000-000000000000';
  expect((await list(`after=${cursor}`)).body).toMatchObject({ data: [], total: 2, has_more: false, next: null });
  for (const after of ['x', `${cursor}0`, `{${cursor}}`, cursor.replaceAll('-', ''), cursor.replace('7', 'g')])
    expectProblem(await list(`after=${after}`), 400, 'invalid_parameter', 'after');
  expectProblem(await list(`after=${cursor}&page=2`), 400, 'invalid_parameter', 'page');
});

test('a filtered list is counted up to 1,000, says whether it has more, and is read beyond it by cursor alone', async () => {
  await deposit(998);
  const filtered = 'created_after=2020-01-01T00:00:00Z&page_size=100';
  expect((await list(`${filtered}&page=10`)).body).toMatchObject({ total: 1_000, total_is_exact: true, has_more: false });
  await deposit(3);
  const first = (await list(`${filtered}&page=10`)).body;
  expect(first).toMatchObject({ total: 1_000, total_is_exact: false, has_more: true });
  expect((await list(filtered)).body).toMatchObject({ total: 1_000, total_is_exact: false });
  expectProblem(await list('created_after=2020-01-01T00:00:00Z&page_size=100&page=11'), 400, 'invalid_parameter', 'page');
  expect(await idsOf(`created_after=2020-01-01T00:00:00Z&after=${String(first['next'])}`)).toEqual((await stored()).slice(1_000));
  expect((await list('page_size=100&page=11')).body).toMatchObject({ total: 1_003, total_is_exact: true, has_more: false });
});
