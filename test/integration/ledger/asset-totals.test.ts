import * as fc from 'fast-check';
import { confirmDeposits } from '../../../src/deposits/confirm';
import { orphanDeposits } from '../../../src/deposits/orphan';
import { recordDeposits } from '../../../src/deposits/record';
import { foldListCounts } from '../../../src/http/list-totals';
import { buildAccount, buildDeposit, buildWallet } from '../../factories';
import { buildTenant, createFixture, type Fixture, registry, type Tenant } from '../http/fixture';

/** The totals of lists of assets are those of a count, whatever happens at the same time. */

const base = registry.get('base');

let fixture: Fixture;
beforeAll(async () => void (fixture = await createFixture({ poolSize: 20 })));
afterAll(() => fixture.close());

const totalOf = async (tenant: Tenant, path: string): Promise<number> =>
  Number((await fixture.call('GET', path, { tenant })).body['total']);

type Account = Awaited<ReturnType<typeof buildAccount>>;

async function buildAccounts(tenant: Tenant, count: number): Promise<Account[]> {
  const wallet = await buildWallet(fixture.database, { clientId: tenant.clientId } as never);
  const accounts: Account[] = [];
  for (let index = 0; index < count; index += 1) accounts.push(await buildAccount(fixture.database, wallet, base));
  return accounts;
}
const credit = (account: Account, symbol: string, blockNumber = 1) =>
  fixture.database.transaction(async (manager) => {
    await recordDeposits(manager, base, [buildDeposit(account, base, symbol, 5n, { blockNumber })]);
    await confirmDeposits(manager, base, 100);
  });
const takeBack = (from: number, isRolledBack = false) =>
  fixture.database.transaction(async (manager) => {
    await orphanDeposits(manager, base, from, { error: () => undefined });
    if (isRolledBack) throw rolledBack;
  });
const add = async (tenant: Tenant, { accountId }: Account, symbol: string): Promise<void> => {
  const { status, text } = await fixture.call('POST', '/assets', {
    tenant,
    body: { account_id: accountId, chain: 'base', symbol },
  });
  expect([201, 400, text]).toContain(status);
};
const rolledBack = new Error('rolled back');
const isExpected = (error: unknown): boolean =>
  error === rolledBack || (error as { driverError?: { code?: string } }).driverError?.code === '40P01';

/** What a client has added, and native coins with a balance: as a list with its total, and of each account. */
async function expectAssets(tenant: Tenant, accounts: Account[]): Promise<void> {
  for (const account of [undefined, ...accounts]) {
    const shown = await fixture.database.query<{ id: string }[]>(
      `select ledger_account_id as id from ledger_accounts
        where client_id = $1 and account_id = coalesce($2, account_id)
          and (ledger_account_id in (select asset_id from assets) or contract_address is null and available + locked > 0)
        order by ledger_account_id desc`,
      [tenant.clientId, account?.accountId],
    );
    const query = `page_size=100${account ? `&account_id=${account.accountId}` : ''}`;
    const { body } = await fixture.call('GET', `/assets?${query}`, { tenant });
    expect(body.data.map((asset) => ({ id: asset['asset_id'] }))).toEqual(shown);
    expect(body['total']).toBe(shown.length);
  }
}

const operation = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('credit' as const),
      of: fc.nat(5),
      symbol: fc.constantFrom('ETH', 'ETH', 'USDC'),
      block: fc.integer({ min: 1, max: 9 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('takeBack' as const),
      from: fc.integer({ min: 1, max: 9 }),
      isRolledBack: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('add' as const), of: fc.nat(5), symbol: fc.constantFrom('ETH', 'USDC') }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fold' as const) }) },
);
const writer = fc.array(operation, { minLength: 3, maxLength: 15 });

test('of random operations of two writers at once: what is added, credited, taken back and rolled back', async () => {
  await fc.assert(
    fc.asyncProperty(writer, writer, async (...writers) => {
      const tenants = [await buildTenant(fixture), await buildTenant(fixture)] as const;
      const accounts = [await buildAccounts(tenants[0], 3), await buildAccounts(tenants[1], 3)] as const;
      await Promise.all(
        writers.map(async (operations) => {
          for (const it of operations) {
            const owner = 'of' in it && it.of > 2 ? 1 : 0;
            const account = accounts[owner]['of' in it ? it.of % 3 : 0] as Account;
            const work =
              it.do === 'credit'
                ? credit(account, it.symbol, it.block)
                : it.do === 'takeBack'
                  ? takeBack(it.from, it.isRolledBack)
                  : it.do === 'add'
                    ? add(tenants[owner], account, it.symbol)
                    : foldListCounts(fixture.database);
            await work.catch((error: unknown) => {
              if (!isExpected(error)) throw error;
            });
          }
        }),
      );
      for (const [index, tenant] of tenants.entries()) await expectAssets(tenant, accounts[index] as Account[]);
    }),
    { numRuns: 15, endOnFailure: true },
  );
}, 180_000);

test('a coin that is added while it is credited is counted once, whichever is first', async () => {
  const tenant = await buildTenant(fixture);
  const accounts = await buildAccounts(tenant, 20);
  await Promise.all(accounts.flatMap((account) => [add(tenant, account, 'ETH'), credit(account, 'ETH')]));
  await expectAssets(tenant, accounts);
  expect(await totalOf(tenant, '/assets')).toBe(20);
  await takeBack(1);
  expect(await totalOf(tenant, '/assets')).toBe(20);
});

test('all pages, from both ends', async () => {
  const tenant = await buildTenant(fixture);
  const [account] = await buildAccounts(tenant, 1);
  const many = 2_345;
  await fixture.database.query(
    `insert into ledger_accounts (ledger_account_id, account_id, wallet_id, client_id, chain, symbol, decimals, contract_address)
     select gen_random_uuid(), account_id, wallet_id, client_id, 'base', 'USDC' || n, 6, 'x' from accounts, generate_series(1, $2::int) n
      where account_id = $1`,
    [account?.accountId, many],
  );
  expect(await totalOf(tenant, '/assets')).toBe(0);
  await fixture.database.query(
    `insert into assets (asset_id, account_id, wallet_id, client_id)
     select ledger_account_id, account_id, wallet_id, client_id from ledger_accounts where account_id = $1`,
    [account?.accountId],
  );
  const seen: unknown[] = [];
  for (let page = 1; ; page += 1) {
    const { body } = await fixture.call('GET', `/assets?page=${page}&page_size=90`, { tenant });
    expect([page, body['total'], body['has_more']]).toEqual([page, many, page * 90 < many]);
    if (body.data.length === 0) break;
    seen.push(...body.data.map((asset) => asset['asset_id']));
  }
  expect(new Set(seen).size).toBe(many);
  expect(seen).toEqual([...seen].sort().reverse());
});
