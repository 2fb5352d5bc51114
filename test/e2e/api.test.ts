import { randomUUID } from 'node:crypto';
import { fund, sharedWallet, stack, waitFor } from '../stack/client';
import { documented, expectProblem } from './openapi';
import { type Account, balances, fundedAccount, newAccount, transactionWhen } from './support';

/** Strict checks of the API. Every answer is checked against openapi.json. */

const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const utc = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/** Well formed, but not an address of the gateway. */
const outside = '0x52908400098527886E0F7030069857D2E4169EE7';
/** Capitals and small letters, by its checksum. */
const mixed = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045';
const lists = ['/wallets', '/accounts', '/assets', '/transactions'];

let walletId: string;
/** Holds 1 ETH and 100 USDC on ethereum. */
let account: Account;
/** Holds USDC but no ETH. */
let gasless: Account;
const transfer = (changes: object = {}, headers: Record<string, string> = {}, as: 'demo' | 'other' = 'demo') =>
  documented('POST', '/transfer', {
    as,
    headers,
    body: {
      from_address: account.address,
      to_address: outside,
      chain: 'ethereum',
      token_symbol: 'USDC',
      amount: '1',
      ...changes,
    },
  });

beforeAll(async () => {
  walletId = (await sharedWallet()).wallet_id;
  [account, gasless] = await Promise.all([
    fundedAccount('ethereum', { ETH: '1', USDC: '100' }),
    fundedAccount('ethereum', { USDC: '5' }),
  ]);
});

describe('requests in general', () => {
  test('health and the document itself are as documented, without a token', async () => {
    for (const path of ['/health/live', '/health/ready', '/openapi.json'])
      expect((await documented('GET', path, { as: null })).status).toBe(200);
  });

  test('metrics and the checks of readiness are on a separate listener only', async () => {
    const { base_url, health_url } = stack();
    const ready = await fetch(health_url);
    expect(await ready.json()).toMatchObject({ status: 'ready', checks: { database: true, signers: true } });
    expect(await (await fetch(new URL('/metrics', health_url))).text()).toContain('http_request_duration_seconds_bucket');
    for (const url of [`${base_url}/metrics`, String(new URL('/metrics', base_url))]) expect((await fetch(url)).status).toBe(404);
  });

  test.each([
    ['GET', '/wallets'],
    ['POST', '/wallets'],
    ['GET', '/accounts/x'],
    ['POST', '/assets'],
    ['POST', '/transfer'],
    ['GET', '/transactions/x'],
    ['POST', '/transactions/x/cancel'],
  ])('401 without a token or with a broken one: %s %s', async (method, path) => {
    for (const authorization of ['', 'Bearer a.b.c']) {
      const answer = await documented(method, path, { as: null, headers: { authorization } });
      expectProblem(answer, 401, 'unauthorized');
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
    }
  });

  test('405 names what is allowed; paths differ by case and by a trailing slash', async () => {
    for (const path of lists) {
      const answer = await documented('DELETE', path);
      expectProblem(answer, 405, 'method_not_allowed');
      expect(answer.headers.get('allow')).toMatch(/^GET, HEAD, /);
      expectProblem(await documented('GET', `${path}/`), 400, 'invalid_parameter', 'id');
    }
    for (const path of ['/nope', '/Wallets', '/wallets/x/', '//wallets', '/transfers'])
      expectProblem(await documented('GET', path), 404, 'not_found');
  });

  test('a safe X-Request-Id is taken, another is replaced', async () => {
    const id = async (given: string) =>
      (await documented('GET', '/health/live', { headers: { 'x-request-id': given } })).headers.get('x-request-id');
    expect(await id('order-4711')).toBe('order-4711');
    expect(await id('<script>')).toMatch(uuidV7);
  });

  test.each(['/wallets', '/accounts', '/assets', '/transfer'])(
    'POST %s refuses a body that is not a JSON object',
    async (path) => {
      const post = (body: unknown, headers: Record<string, string> = {}) => documented('POST', path, { body, headers });
      for (const body of ['{', '[]', 'null', '"text"', '{}{}', `${'['.repeat(20_000)}${']'.repeat(20_000)}`])
        expectProblem(await post(body), 400, 'invalid_parameter');
      expectProblem(await post({ nope: 1 }), 400, 'invalid_parameter', 'nope');
      expectProblem(await post('{"__proto__":{}}'), 400, 'invalid_parameter');
      expectProblem(await post({ x: 'x'.repeat(1_000_000) }), 413, 'payload_too_large');
      expectProblem(await post('{}', { 'content-type': 'text/plain' }), 415, 'unsupported_media_type');
      expectProblem(await post('{}', { 'content-encoding': 'gzip' }), 400, 'invalid_parameter', 'body');
    },
  );
});

describe('lists', () => {
  test.each(lists)('%s: page and page_size', async (path) => {
    for (const query of ['page=0', 'page=-1', 'page=1.5', 'page=x', 'page=', 'page=1e400', 'page=1&page=2', 'PAGE=1', 'page[]=1'])
      expectProblem(await documented('GET', `${path}?${query}`), 400, 'invalid_parameter', query.split('=')[0]);
    for (const query of ['page_size=0', 'page_size=101', 'page_size=9007199254740993'])
      expectProblem(await documented('GET', `${path}?${query}`), 400, 'invalid_parameter', 'page_size');
    const first = await documented('GET', `${path}?page_size=1`);
    expect(first.body.data).toHaveLength(1);
    expect(first.body.has_more).toBe(first.body.total > 1);
    const beyond = await documented('GET', `${path}?page=9007199254740991&page_size=100`);
    expect(beyond.body).toMatchObject({ data: [], has_more: false });
  });

  test('filters by an id that is unknown, no id, or another client’s find nothing', async () => {
    for (const [filter, own] of [
      ['/accounts?wallet_id=', walletId],
      ['/assets?account_id=', account.account_id],
      ['/transactions?wallet_id=', walletId],
      ['/transactions?account_id=', account.account_id],
    ] as const) {
      for (const [id, as] of [
        [own, 'other'],
        [randomUUID(), 'demo'],
        ['nope', 'demo'],
        ['%00', 'demo'],
      ] as const)
        expect((await documented('GET', `${filter}${id}`, { as })).body).toEqual({
          ...{ data: [], total: 0, has_more: false },
          ...(filter.startsWith('/transactions') && { total_is_exact: true, next: null }),
        });
      expect((await documented('GET', `${filter}${own}`)).body.total).toBeGreaterThan(0);
      expectProblem(await documented('GET', filter), 400, 'invalid_parameter');
    }
  });

  test('newest first, ids are UUIDv7, timestamps are UTC', async () => {
    for (const path of lists) {
      const { data } = (await documented('GET', `${path}?page_size=100`)).body;
      const ids = data.map((item: Record<string, string>) => item[`${Object.keys(item)[0]}`]);
      expect(ids).toEqual([...ids].sort().reverse());
      for (const item of data)
        expect([ids[0], item.created_at]).toEqual([expect.stringMatching(uuidV7), expect.stringMatching(utc)]);
    }
  });
});

describe('accounts and assets', () => {
  test('POST /accounts: refusals', async () => {
    const post = (changes: object, as: 'demo' | 'other' = 'demo') =>
      documented('POST', '/accounts', { as, body: { wallet_id: walletId, chain: 'ethereum', ...changes } });
    for (const chain of ['polygon', 'dogecoin', 'ETHEREUM', '', 1, null, []])
      expectProblem(await post({ chain }), 400, 'invalid_parameter', 'chain');
    expectProblem(await post({ label: '🎉'.repeat(101) }), 400, 'invalid_parameter', 'label');
    expectProblem(await post({ wallet_id: randomUUID() }), 404, 'not_found');
    expectProblem(await post({}, 'other'), 404, 'not_found');
  });

  test('an account has an address of its own and answers at its Location, to its client alone', async () => {
    const answer = await documented('POST', '/accounts', {
      body: { wallet_id: walletId, chain: 'base', label: '🎉'.repeat(100) },
    });
    expect([answer.status, answer.body.address]).toEqual([201, expect.stringMatching(/^0x[0-9a-fA-F]{40}$/)]);
    const location = `${answer.headers.get('location')}`.replace('/api/v1', '');
    expect((await documented('GET', location)).body).toEqual(answer.body);
    expectProblem(await documented('GET', location, { as: 'other' }), 404, 'not_found');
  });

  test('POST /assets: the specification’s table', async () => {
    const post = (changes: object, as: 'demo' | 'other' = 'demo') =>
      documented('POST', '/assets', {
        as,
        body: { account_id: account.account_id, symbol: 'USDT', chain: 'ethereum', ...changes },
      });
    for (const symbol of ['usdt', 'AVAX', 'DOGE', 'SOL', 'MATIC', '', 1, null])
      expectProblem(await post({ symbol }), 400, 'invalid_parameter', 'symbol');
    for (const chain of [undefined, 'polygon', 'bsc', 'nope', null])
      expectProblem(await post({ chain, symbol: 'USDC' }), 400, 'invalid_parameter', 'chain');
    expectProblem(await post({ chain: 'polygon', symbol: 'MATIC' }), 400, 'invalid_parameter', 'chain');
    expectProblem(await post({ account_id: 'x'.repeat(37) }), 400, 'invalid_parameter', 'account_id');
    expectProblem(await post({ account_id: randomUUID() }), 404, 'not_found');
    expectProblem(await post({}, 'other'), 404, 'not_found');
    expectProblem(await post({ symbol: 'USDC' }), 400, 'asset_already_exists');
  });

  test('balances: a native coin is listed without being added, a token once it is added', async () => {
    const { account_id, address } = await newAccount('base');
    await fund('base', 'ETH', address, '0.5');
    await fund('base', 'USDC', address, '7');
    await waitFor(async () => (await balances(account_id, 'base')).ETH?.balance === '0.5');
    await waitFor(async () => (await documented('GET', `/transactions?account_id=${account_id}`)).body.total === 2);
    expect((await documented('GET', `/assets?account_id=${account_id}`)).body).toMatchObject({ total: 1 });
    const add = (symbol: string) => documented('POST', '/assets', { body: { account_id, symbol, chain: 'base' } });
    // after its confirmations, so that it does not appear later
    await waitFor(async () => {
      const { data } = (await documented('GET', `/transactions?account_id=${account_id}`)).body;
      return data.every(({ status }: { status: string }) => status === 'CONFIRMED');
    });
    expect((await add('USDC')).body).toMatchObject({ balance: '7', asset_type: 'ERC20', network: 'local', is_active: true });
    expect((await add('ETH')).body).toMatchObject({ balance: '0.5', asset_type: 'NATIVE', contract_address: null });
    expectProblem(await add('ETH'), 400, 'asset_already_exists');
  });
});

describe('POST /transfer', () => {
  const wrongAmounts = [
    '0',
    '0.0',
    '1e3',
    '+1',
    '-1',
    '1.',
    '.5',
    ' 1',
    '1,5',
    '0x1',
    '１',
    '1.0000001',
    '9'.repeat(79),
    1,
    null,
  ];
  test('invalid_parameter names its field', async () => {
    for (const amount of wrongAmounts) expectProblem(await transfer({ amount }), 400, 'invalid_parameter', 'amount');
    for (const field of ['from_address', 'to_address', 'chain', 'token_symbol', 'amount'])
      for (const value of [undefined, null, '', 1, [], {}])
        expectProblem(await transfer({ [field]: value }), 400, 'invalid_parameter', field);
    for (const chain of ['polygon', 'nope', 'ETHEREUM'])
      expectProblem(await transfer({ chain }), 400, 'invalid_parameter', 'chain');
    for (const memo of ['x'.repeat(101), 1, '\u0000']) expectProblem(await transfer({ memo }), 400, 'invalid_parameter', 'memo');
    expectProblem(await transfer({ token_symbol: 'A'.repeat(21) }), 400, 'invalid_parameter', 'token_symbol');
    for (const to_address of [account.address, account.address.toLowerCase(), swapCase(account.address)])
      expectProblem(await transfer({ to_address }), 400, 'invalid_parameter', 'to_address');
  });

  test('invalid_address: format, a wrong checksum in mixed case, the zero address', async () => {
    for (const to_address of ['0x5290', 'bob.eth', 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8', `0x${'0'.repeat(40)}`, swapCase(mixed)])
      expectProblem(await transfer({ to_address }), 400, 'invalid_address');
  });

  test('not_found: an address of another owner, an unknown asset', async () => {
    expectProblem(await transfer({}, {}, 'other'), 404, 'not_found');
    expectProblem(await transfer({ from_address: outside, to_address: account.address }), 404, 'not_found');
    for (const token_symbol of ['USDT', 'DOGE', 'usdc']) expectProblem(await transfer({ token_symbol }), 404, 'not_found');
  });

  test('insufficient_balance: of the token, or of the coin that pays the fee, which is named', async () => {
    expectProblem(await transfer({ amount: '100.000001' }), 400, 'insufficient_balance');
    expectProblem(await transfer({ token_symbol: 'ETH', amount: '1' }), 400, 'insufficient_balance');
    const short = await transfer({ from_address: gasless.address });
    expectProblem(short, 400, 'insufficient_balance');
    expect(short.body.detail).toMatch(/ETH on ethereum/);
  });

  test('202, then every field of the transaction until it is CONFIRMED', async () => {
    const accepted = await transfer({
      from_address: account.address.toLowerCase(),
      to_address: outside.toLowerCase(),
      amount: '0002.500000',
      memo: 'Grüße 🎉',
    });
    expect(accepted.status).toBe(202);
    expect(accepted.body).toEqual({ tx_id: expect.stringMatching(uuidV7), status: 'PENDING', message: expect.any(String) });
    expect(accepted.headers.get('location')).toBe(`/api/v1/transactions/${accepted.body.tx_id}`);
    const path = `/transactions/${accepted.body.tx_id}`;
    expectProblem(await documented('GET', path, { as: 'other' }), 404, 'not_found');
    const ended = await waitFor(async () => {
      const { body } = await documented('GET', path);
      return body.status === 'CONFIRMED' && body;
    });
    expect(ended).toMatchObject({
      from_address: account.address,
      to_address: outside,
      amount: '2.5',
      memo: 'Grüße 🎉',
      account_id: account.account_id,
      fee: { amount: expect.stringMatching(/^0\.\d*[1-9]$/), symbol: 'ETH' },
      failure: null,
      live: null,
      tx_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    });
    expect(ended.confirmations).toBeGreaterThanOrEqual(ended.required_confirmations);
    for (const { at } of ended.timeline) expect(at).toMatch(utc);
    expectProblem(await documented('POST', `${path}/cancel`), 409, 'not_cancellable');
  });
});

describe('POST /transactions/{tx_id}/cancel', () => {
  const cancel = (txId: string, as: 'demo' | 'other' = 'demo') => documented('POST', `/transactions/${txId}/cancel`, { as });

  test('right after POST /transfer: CANCELLED and unlocked, or not_cancellable; never an outcome that is not known', async () => {
    const before = (await balances(account.account_id, 'ethereum')).USDC?.balance;
    let sent = 0;
    for (let i = 0; i < 6; i += 1) {
      const { body } = await transfer({ amount: '1' });
      const answers = await Promise.all(Array.from({ length: i < 3 ? 1 : 3 }, () => cancel(body.tx_id)));
      const results = new Set(answers.map((answer) => `${answer.status} ${answer.body.code ?? answer.body.status}`));
      expect([['200 CANCELLED'], ['409 not_cancellable']]).toContainEqual([...results]);
      const { status } = await transactionWhen(body.tx_id as string, ['CANCELLED', 'CONFIRMED']);
      if (status === 'CONFIRMED') sent += 1;
      else expect((await cancel(body.tx_id)).body).toMatchObject({ status: 'CANCELLED', tx_hash: null, live: null });
    }
    expect((await balances(account.account_id, 'ethereum')).USDC).toEqual({
      balance: String(Number(before) - sent),
      locked_balance: '0',
    });
  });

  test('404 for another client’s, an unknown and no id; 409 for a deposit', async () => {
    const { data } = (await documented('GET', `/transactions?account_id=${gasless.account_id}`)).body;
    expectProblem(await cancel(data[0].tx_id, 'other'), 404, 'not_found');
    expectProblem(await cancel(data[0].tx_id), 409, 'not_cancellable');
    for (const id of [randomUUID(), 'nope']) expectProblem(await cancel(id), 404, 'not_found');
  });
});

describe('Idempotency-Key', () => {
  const bodies: Record<string, [() => object, object]> = {
    '/wallets': [() => ({ wallet_name: 'idempotent' }), { wallet_name: 'another' }],
    '/accounts': [() => ({ wallet_id: walletId, chain: 'base' }), { chain: 'ethereum' }],
    '/assets': [() => ({ account_id: gasless.account_id, symbol: 'USDT', chain: 'ethereum' }), { symbol: 'ETH' }],
    '/transfer': [
      () => ({ from_address: account.address, to_address: outside, chain: 'ethereum', token_symbol: 'USDC', amount: '1.50' }),
      { amount: '1.51' },
    ],
  };
  test.each(Object.keys(bodies))(
    'POST %s: ten concurrent requests act once, and later ones get the same answer',
    async (path) => {
      const [make, change] = bodies[path] ?? [() => ({}), {}];
      const headers = { 'idempotency-key': `key ${randomUUID()}` };
      const post = (body: object) => documented('POST', path, { body, headers });
      const answers = await Promise.all(Array.from({ length: 10 }, () => post(make())));
      expect(new Set(answers.map(({ status, body, headers: h }) => JSON.stringify([status, body, h.get('location')]))).size).toBe(
        1,
      );
      expect(answers.filter(({ headers: h }) => h.get('idempotency-replayed') !== 'true')).toHaveLength(1);
      const reordered = await post(Object.fromEntries(Object.entries(make()).reverse()));
      expect([reordered.status, reordered.body]).toEqual([answers[0]?.status, answers[0]?.body]);
      expectProblem(await post({ ...make(), ...change }), 422, 'idempotency_key_reused');
      const location = `${answers[0]?.headers.get('location')}`.replace('/api/v1', '');
      expectProblem(await documented('GET', location, { as: 'other' }), 404, 'not_found');
    },
  );

  test('a refusal is stored like any answer; a malformed key is refused', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const [first, second] = [await transfer({ amount: '1000' }, headers), await transfer({ amount: '1000' }, headers)];
    expect([first.status, second.status, second.headers.get('idempotency-replayed')]).toEqual([400, 400, 'true']);
    expect(second.body).toEqual(first.body);
    expectProblem(await transfer({}, { 'idempotency-key': 'x'.repeat(256) }), 400, 'invalid_parameter', 'Idempotency-Key');
  });
});

/** The same address, its letters in the other case: a wrong checksum. */
function swapCase(address: string): string {
  const swap = (letter: string) => (letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase());
  return `0x${address.slice(2).replace(/[a-f]/gi, swap)}`;
}
