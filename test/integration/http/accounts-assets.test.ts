import { newId } from '../../../src/platform/ids';
import { deriveAddress } from '../../../src/accounts/derivation';
import { getFamily } from '../../../src/chains/families';
import { buildAccount, buildWallet, fundAccount, type BuiltWallet } from '../../factories';
import { buildTenant, createFixture, ethereum, expectProblem, registry, type Fixture } from './fixture';

let fixture: Fixture;
let wallet: BuiltWallet;
beforeAll(async () => {
  fixture = await createFixture();
  wallet = await buildWallet(fixture.database, { clientId: fixture.demo.clientId } as never);
});
afterAll(() => fixture.close());

const createAccount = (changes: object = {}, tenant = fixture.demo) =>
  fixture.call('POST', '/accounts', { tenant, body: { wallet_id: wallet.walletId, chain: 'ethereum', ...changes } });
const addAsset = (body: object) => fixture.call('POST', '/assets', { body });

describe('POST /accounts', () => {
  test('answers 201 with an address derived from the wallet’s key', async () => {
    const answer = await createAccount({ label: 'payouts' });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      account_id: expect.any(String),
      wallet_id: wallet.walletId,
      client_id: fixture.demo.clientId,
      address: deriveAddress({ ...wallet, protocol: 'ecdsa-secp256k1' }, getFamily('evm'), 0).address,
      chain: 'ethereum',
      network: 'local',
      address_type: 'INBOUND',
      status: 'ACTIVE',
      label: 'payouts',
      external_id: null,
      created_at: expect.any(String),
    });
    expect(answer.headers.get('location')).toBe(`/api/v1/accounts/${String(answer.body['account_id'])}`);
    expect((await fixture.call('GET', `/accounts/${String(answer.body['account_id'])}`)).body).toEqual(answer.body);
  });

  test('20 at once get 20 addresses', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => createAccount()));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(201));
    expect(new Set(answers.map(({ body }) => body['address'])).size).toBe(20);
  });

  test.each([
    ['no wallet_id', { wallet_id: undefined }, 'wallet_id'],
    ['no chain', { chain: undefined }, 'chain'],
    ['an unknown chain', { chain: 'dogecoin' }, 'chain'],
    ['a chain that is not enabled', { chain: 'polygon' }, 'chain'],
    ['a chain with NUL', { chain: 'ethereum\u0000' }, 'chain'],
    ['a label of 101 characters', { label: 'x'.repeat(101) }, 'label'],
    ['network, which the client does not supply', { network: 'mainnet' }, 'network'],
  ])('refuses %s', async (_, changes, field) => expectProblem(await createAccount(changes), 400, 'invalid_parameter', field));

  test.each(['nope', newId()])('404 for the wallet %s', async (wallet_id) =>
    expectProblem(await createAccount({ wallet_id }), 404, 'not_found'),
  );
  test('404 for another client’s wallet', async () => expectProblem(await createAccount({}, fixture.other), 404, 'not_found'));

  test('wallet_not_active while the key is generated, and when suspended', async () => {
    const { body } = await fixture.call('POST', '/wallets', { body: { wallet_name: 'new' } });
    const early = await createAccount({ wallet_id: body['wallet_id'] });
    expectProblem(early, 400, 'wallet_not_active');
    expect([early.body['reason'], early.headers.get('retry-after')]).toEqual(['generating', '5']);
    const suspended = await buildWallet(fixture.database, { clientId: fixture.demo.clientId } as never);
    await fixture.database.query(`update wallets set status = 'SUSPENDED' where wallet_id = $1`, [suspended.walletId]);
    const refused = await createAccount({ wallet_id: suspended.walletId });
    expectProblem(refused, 400, 'wallet_not_active');
    expect([refused.body['reason'], refused.headers.get('retry-after')]).toEqual(['suspended', null]);
  });

  test('a key that was too early is good once the wallet is active; what a suspended wallet was refused stays refused', async () => {
    const { walletId } = await buildWallet(fixture.database, { clientId: fixture.demo.clientId } as never);
    const become = async (changes: string) => {
      await fixture.database.transaction(async (manager) => {
        await manager.query(`set local session_replication_role = 'replica'`);
        await manager.query(`update wallets set ${changes} where wallet_id = $1`, [walletId]);
      });
    };
    const headers = { 'Idempotency-Key': newId() };
    const create = () => fixture.call('POST', '/accounts', { body: { wallet_id: walletId, chain: 'ethereum' }, headers });
    await become(`status = 'PROGRESSING'`);
    for (let times = 0; times < 2; times += 1) {
      const early = await create();
      expectProblem(early, 400, 'wallet_not_active');
      expect(early.headers.get('idempotency-replayed')).toBeNull();
    }
    await become(`status = 'ACTIVE'`);
    expect((await create()).status).toBe(201);

    await become(`status = 'SUSPENDED'`);
    headers['Idempotency-Key'] = newId();
    expectProblem(await create(), 400, 'wallet_not_active');
    await become(`status = 'ACTIVE'`);
    const again = await create();
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([400, 'true']);
  });
});

describe('GET /accounts', () => {
  test('filters by wallet and chain, pages', async () => {
    const mine = await buildWallet(fixture.database, { clientId: fixture.demo.clientId } as never);
    for (const chain of ['ethereum', 'base', 'ethereum']) await createAccount({ wallet_id: mine.walletId, chain });
    const list = async (query: string, tenant = fixture.demo) =>
      (await fixture.call('GET', `/accounts?${query}`, { tenant })).body;
    expect(await list(`wallet_id=${mine.walletId}`)).toMatchObject({ total: 3, has_more: false });
    expect(await list(`wallet_id=${mine.walletId}&chain=ethereum&page_size=1`)).toMatchObject({ total: 2, has_more: true });
    expect(await list(`wallet_id=${mine.walletId}`, fixture.other)).toEqual({ data: [], total: 0, has_more: false });
    expect(await list('wallet_id=nope')).toEqual({ data: [], total: 0, has_more: false });
    expectProblem(await fixture.call('GET', '/accounts?chain=etherum'), 400, 'invalid_parameter', 'chain');
    expectProblem(await fixture.call('GET', '/accounts?chian=ethereum'), 400, 'invalid_parameter', 'chian');
  });
  test('by id: 404 for unknown and foreign ones, 400 for a missing one', async () => {
    const { body } = await createAccount();
    expectProblem(
      await fixture.call('GET', `/accounts/${String(body['account_id'])}`, { tenant: fixture.other }),
      404,
      'not_found',
    );
    expectProblem(await fixture.call('GET', '/accounts/nope'), 404, 'not_found');
    expectProblem(await fixture.call('GET', '/accounts/'), 400, 'invalid_parameter', 'id');
  });
});

describe('POST /assets', () => {
  test('answers 201 with the data of the registry', async () => {
    const account = await buildAccount(
      fixture.database,
      await buildWallet(fixture.database, { clientId: fixture.demo.clientId } as never),
      ethereum,
    );
    const answer = await addAsset({ account_id: account.accountId, symbol: 'USDC', chain: 'base' });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({
      account_id: account.accountId,
      wallet_id: account.walletId,
      client_id: fixture.demo.clientId,
      chain: 'base',
      network: 'local',
      symbol: 'USDC',
      name: 'USD Coin',
      decimals: 6,
      asset_type: 'ERC20',
      balance: '0',
      locked_balance: '0',
      is_active: true,
      contract_address: registry.get('base').tokens.find(({ symbol }) => symbol === 'USDC')?.contract,
    });
    expect((await fixture.call('GET', String(answer.headers.get('location')).replace('/api/v1', ''))).body).toEqual(answer.body);
    expectProblem(await addAsset({ account_id: account.accountId, symbol: 'USDC', chain: 'base' }), 400, 'asset_already_exists');
  });

  test('shows earlier deposits', async () => {
    const account = await buildAccount(
      fixture.database,
      await buildWallet(fixture.database, { clientId: fixture.demo.clientId } as never),
      ethereum,
    );
    await fundAccount(fixture.database, account, ethereum, 'USDC', 2_500_000n);
    expect((await addAsset({ account_id: account.accountId, symbol: 'USDC', chain: 'ethereum' })).body).toMatchObject({
      balance: '2.5',
    });
  });

  test('400, 404 by the specification’s table', async () => {
    const account = await buildAccount(
      fixture.database,
      await buildWallet(fixture.database, { clientId: fixture.demo.clientId } as never),
      ethereum,
    );
    const asset = (changes: object) => addAsset({ account_id: account.accountId, symbol: 'ETH', chain: 'ethereum', ...changes });
    expectProblem(await asset({ account_id: undefined }), 400, 'invalid_parameter', 'account_id');
    expectProblem(await asset({ account_id: 'x'.repeat(37) }), 400, 'invalid_parameter', 'account_id');
    expectProblem(await asset({ symbol: 'DOGE' }), 400, 'invalid_parameter', 'symbol');
    expectProblem(await asset({ symbol: 'AVAX', chain: 'avalanche' }), 400, 'invalid_parameter', 'symbol');
    expectProblem(await asset({ symbol: undefined }), 400, 'invalid_parameter', 'symbol');
    expectProblem(await asset({ symbol: 'SOL' }), 400, 'invalid_parameter', 'symbol');
    expectProblem(await asset({ symbol: 'ETH', chain: 'bsc' }), 400, 'invalid_parameter', 'symbol');
    expectProblem(await asset({ chain: undefined }), 400, 'invalid_parameter', 'chain');
    expectProblem(await asset({ chain: 'dogecoin' }), 400, 'invalid_parameter', 'chain');
    expectProblem(await asset({ contract_address: '0x' }), 400, 'invalid_parameter', 'contract_address');
    expectProblem(await asset({ account_id: newId() }), 404, 'not_found');
    expectProblem(await asset({ account_id: 'nope' }), 404, 'not_found');
    expectProblem(
      await fixture.call('POST', '/assets', {
        tenant: fixture.other,
        body: { account_id: account.accountId, symbol: 'ETH', chain: 'ethereum' },
      }),
      404,
      'not_found',
    );
    await fixture.database.query(`update accounts set status = 'INACTIVE' where account_id = $1`, [account.accountId]);
    expectProblem(await asset({}), 400, 'account_not_active');
  });
});

describe('GET /assets', () => {
  test('lists added assets and native coins with a balance; adding such a coin is not a duplicate', async () => {
    const tenant = await buildTenant(fixture);
    const account = await buildAccount(
      fixture.database,
      await buildWallet(fixture.database, { clientId: tenant.clientId } as never),
      ethereum,
    );
    const avalanche = registry.get('avalanche');
    await fundAccount(fixture.database, account, avalanche, 'AVAX', 3n * 10n ** 18n);
    await fundAccount(fixture.database, account, ethereum, 'ETH', 10n ** 18n);
    await fundAccount(fixture.database, account, ethereum, 'USDC', 1n);
    const list = async (query = '') => (await fixture.call('GET', `/assets${query}`, { tenant })).body;
    expect(await list()).toMatchObject({ total: 2, has_more: false });
    expect((await list()).data).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ symbol: 'AVAX', balance: '3' }),
        expect.objectContaining({ symbol: 'ETH', balance: '1' }),
      ]),
    );
    const added = await fixture.call('POST', '/assets', {
      tenant,
      body: { account_id: account.accountId, symbol: 'ETH', chain: 'ethereum' },
    });
    expect([added.status, added.body['balance']]).toEqual([201, '1']);
    expect(await list('?page_size=1')).toMatchObject({ total: 2, has_more: true });
    expect(await list('?page_size=1&page=3')).toEqual({ data: [], total: 2, has_more: false });
    expect(await list(`?account_id=${account.accountId}`)).toMatchObject({ total: 2 });
    expect(await list('?account_id=nope')).toMatchObject({ total: 0 });
    expect((await fixture.call('GET', `/assets?account_id=${account.accountId}`)).body).toEqual({
      data: [],
      total: 0,
      has_more: false,
    });
    expectProblem(await fixture.call('GET', '/assets?account=1', { tenant }), 400, 'invalid_parameter', 'account');
  });
});
