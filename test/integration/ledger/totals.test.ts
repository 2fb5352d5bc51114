import { recordDeposits } from '../../../src/deposits/record';
import { newId } from '../../../src/platform/ids';
import { buildAccount, buildDeposit, buildTransferRequest, buildWallet } from '../../factories';
import { buildFunded, buildTenant, createFixture, ethereum, type Fixture, registry, type Tenant } from '../http/fixture';
import { codeOf } from './fixture';

/** The totals of lists are those of a count, whatever happens at the same time. */

let fixture: Fixture;
beforeAll(async () => void (fixture = await createFixture({ poolSize: 20 })));
afterAll(() => fixture.close());

const totalOf = async (tenant: Tenant, path: string): Promise<number> =>
  Number((await fixture.call('GET', path, { tenant })).body['total']);
const counted = async (sql: string, parameters: unknown[]): Promise<number> => {
  const [row] = await fixture.database.query<{ count: number }[]>(`select count(*)::int as count from ${sql}`, parameters);
  return row?.count ?? -1;
};

test('of wallets, accounts and transactions, with every filter, after what was inserted, refused and rolled back at once', async () => {
  const tenants = [await buildTenant(fixture), await buildTenant(fixture)] as const;
  const funded = await Promise.all(tenants.map((tenant) => buildFunded(fixture, tenant)));
  const base = registry.get('base');
  const work = tenants.flatMap(({ clientId }, index) => {
    const { account, wallet } = funded[index] as (typeof funded)[number];
    const transfer = (amount: string) =>
      codeOf(
        fixture.workflows.ledger.lockTransfer(buildTransferRequest(account, ethereum, { tokenSymbol: 'USDC', amount, clientId })),
      );
    const deposits = (rollBack: boolean) =>
      fixture.database
        .transaction(async (manager) => {
          for (const chain of [ethereum, base])
            await recordDeposits(manager, chain, [
              buildDeposit(account, chain, 'ETH', 5n),
              buildDeposit(account, chain, 'ETH', 6n),
            ]);
          if (rollBack) throw new Error('rolled back');
        })
        .catch((error: Error) => expect(error.message).toBe('rolled back'));
    return [
      ...Array.from({ length: 30 }, () => transfer('1')),
      // more than there is: refused within COMMIT
      ...Array.from({ length: 5 }, () => transfer('100000')),
      ...Array.from({ length: 6 }, (_, at) => deposits(at % 2 === 1)),
      buildWallet(fixture.database, { clientId } as never),
    ].concat([buildAccount(fixture.database, wallet, ethereum) as never]);
  });
  await Promise.all(work);

  for (const [index, tenant] of tenants.entries()) {
    const { account, wallet } = funded[index] as (typeof funded)[number];
    const other = funded[1 - index] as (typeof funded)[number];
    const wallets = [undefined, wallet.walletId, other.wallet.walletId, newId()];
    const accounts = [undefined, account.accountId, other.account.accountId, newId()];
    for (const walletId of wallets)
      for (const accountId of accounts)
        for (const chain of [undefined, 'ethereum', 'base', 'bsc']) {
          const query = new URLSearchParams({
            ...(walletId && { wallet_id: walletId }),
            ...(accountId && { account_id: accountId }),
            ...(chain && { chain }),
          }).toString();
          const expected = await counted(
            `transactions where client_id = $1 and wallet_id = coalesce($2, wallet_id) and account_id = coalesce($3, account_id) and chain = coalesce($4, chain)`,
            [tenant.clientId, walletId, accountId, chain],
          );
          expect([query, await totalOf(tenant, `/transactions?${query}`)]).toEqual([query, expected]);
        }
    expect(await totalOf(tenant, '/transactions')).toBe(30 + 2 + 3 * 4);
    expect(await totalOf(tenant, '/wallets')).toBe(await counted('wallets where client_id = $1', [tenant.clientId]));
    expect(await totalOf(tenant, '/wallets')).toBe(2);
    for (const walletId of wallets)
      for (const chain of [undefined, 'ethereum', 'base']) {
        const query = new URLSearchParams({ ...(walletId && { wallet_id: walletId }), ...(chain && { chain }) }).toString();
        const expected = await counted(
          'accounts where client_id = $1 and wallet_id = coalesce($2, wallet_id) and chain = coalesce($3, chain)',
          [tenant.clientId, walletId, chain],
        );
        expect([query, await totalOf(tenant, `/accounts?${query}`)]).toEqual([query, expected]);
      }
  }
});

test('an account of another wallet has none there', async () => {
  const tenant = await buildTenant(fixture);
  const { account, wallet } = await buildFunded(fixture, tenant);
  const another = await buildWallet(fixture.database, { clientId: tenant.clientId } as never);
  const path = (walletId: string) => `/transactions?account_id=${account.accountId}&wallet_id=${walletId}`;
  expect(await totalOf(tenant, path(wallet.walletId))).toBe(2);
  expect(await totalOf(tenant, path(another.walletId))).toBe(0);
});

test('all pages of 2,511 transactions, from both ends: each once, by falling id', async () => {
  const tenant = await buildTenant(fixture);
  const { account, wallet } = await buildFunded(fixture, tenant);
  const parameters = [tenant.clientId, wallet.walletId, account.accountId];
  await fixture.database.transaction(async (manager) => {
    await manager.query(`set local session_replication_role = 'replica'`);
    await manager.query(
      `insert into transactions (tx_id, client_id, wallet_id, account_id, asset_id, chain, transaction_type, direction, is_held, is_signed,
         from_address, to_address, token_symbol, decimals, amount, status, tx_hash, position, block_number, block_hash, required_confirmations, ended_at)
       select gen_random_uuid(), $1, $2, $3, t.asset_id, case when n % 5 = 0 then 'base' else 'ethereum' end, t.transaction_type, 'in', false, false,
         'x', t.to_address, t.token_symbol, t.decimals, 1, 'CONFIRMED', 'h' || n, '0', 1, 'b', 1, now()
         from generate_series(1, 2509) n, (select * from transactions where account_id = $3 limit 1) t`,
      parameters,
    );
    await manager.query(`delete from list_totals where list = 'transactions' and client_id = $1`, [tenant.clientId]);
    await manager.query(
      `insert into list_totals (list, client_id, subject_id, chain, slot, total)
       select 'transactions', client_id, unnest(array[client_id, wallet_id, account_id]), chain, 0, count(*) from transactions
        where client_id = $1 group by 1, 2, 3, 4`,
      [tenant.clientId],
    );
  });
  for (const [filter, where, size] of [
    ['', 'true', 100],
    ['', 'true', 83],
    ['&chain=ethereum', `chain = 'ethereum'`, 97],
  ] as const) {
    const stored = await fixture.database.query<{ tx_id: string }[]>(
      `select tx_id from transactions where client_id = $1 and ${where} order by tx_id desc`,
      [tenant.clientId],
    );
    const seen: string[] = [];
    for (let page = 1; ; page += 1) {
      const { body } = await fixture.call('GET', `/transactions?page=${page}&page_size=${size}${filter}`, { tenant });
      seen.push(...body.data.map((tx) => String(tx['tx_id'])));
      expect([page, body['total'], body['has_more']]).toEqual([page, stored.length, page * size < stored.length]);
      if (body.data.length === 0) break;
    }
    expect(seen).toEqual(stored.map(({ tx_id: id }) => id));
  }
});
