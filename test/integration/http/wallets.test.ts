import { newId } from '../../../src/platform/ids';
import { GatewayError } from '../../../src/platform/errors';
import { buildTenant, createBench, expectProblem, type Bench } from './fixture';

let bench: Bench;
beforeAll(async () => void (bench = await createBench()));
afterAll(() => bench.close());
beforeEach(() => void (bench.workflows.failures = []));

const create = (body: unknown = { wallet_name: 'main' }) => bench.call('POST', '/wallets', { body });

describe('POST /wallets', () => {
  test('answers 201 with the wallet, PROGRESSING and GENERATING, and starts its key', async () => {
    const answer = await create({ wallet_name: 'main', description: 'for payouts' });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      wallet_id: expect.any(String),
      client_id: bench.demo.clientId,
      wallet_name: 'main',
      description: 'for payouts',
      status: 'PROGRESSING',
      key_status: 'GENERATING',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updated_at: expect.any(String),
    });
    expect(answer.headers.get('location')).toBe(`/api/v1/wallets/${String(answer.body['wallet_id'])}`);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(bench.workflows.started).toContain(answer.body['wallet_id']);
  });

  test.each([
    ['no name', {}, 'wallet_name'],
    ['an empty name', { wallet_name: '' }, 'wallet_name'],
    ['a blank name', { wallet_name: '   ' }, 'wallet_name'],
    ['a name of 101 characters', { wallet_name: 'x'.repeat(101) }, 'wallet_name'],
    ['a name that is a number', { wallet_name: 5 }, 'wallet_name'],
    ['a name that is nested', { wallet_name: { a: [1] } }, 'wallet_name'],
    ['a name with NUL', { wallet_name: 'a\u0000b' }, 'wallet_name'],
    ['a name with half a surrogate pair', '{"wallet_name":"\\ud800"}', 'wallet_name'],
    ['a description of 501 characters', { wallet_name: 'a', description: 'x'.repeat(501) }, 'description'],
    ['an unknown field', { wallet_name: 'a', wallet_nam: 'b' }, 'wallet_nam'],
    ['__proto__', '{"wallet_name":"a","__proto__":{"status":"ACTIVE"}}', 'body'],
  ])('refuses %s', async (_, body, field) => {
    expectProblem(await create(body), 400, 'invalid_parameter', field);
  });

  test('takes names and descriptions of full length, counted in characters', async () => {
    expect((await create({ wallet_name: '🦊'.repeat(100), description: 'é'.repeat(500) })).status).toBe(201);
  });

  test('creates nothing while the workflow service is down', async () => {
    const before = (await bench.call('GET', '/wallets')).body['total'];
    bench.workflows.failures = [new GatewayError('unavailable', 'down', { retryAfterSeconds: 5 })];
    const answer = await create();
    expectProblem(answer, 503, 'unavailable');
    expect(answer.headers.get('retry-after')).toBe('5');
    expect((await bench.call('GET', '/wallets')).body['total']).toBe(before);
  });

  test('a start that fails after the insert is made good by the repair', async () => {
    const { workflows, database, resources } = bench;
    const assertAvailable = jest.spyOn(workflows, 'assertAvailable').mockResolvedValue();
    workflows.failures = [new Error('lost')];
    const answer = await create();
    assertAvailable.mockRestore();
    expect(answer.status).toBe(201);
    const walletId = String(answer.body['wallet_id']);
    expect(workflows.started).not.toContain(walletId);
    await database.query(`update wallets set created_at = now() - interval '1 minute' where wallet_id = $1`, [walletId]);
    await resources.housekeeping.find(({ name }) => name.includes('key'))?.run();
    expect(workflows.started).toContain(walletId);
  });
});

describe('GET /wallets', () => {
  test('pages newest first, with total and has_more', async () => {
    const tenant = await buildTenant(bench);
    const names = ['a', 'b', 'c', 'd', 'e'];
    for (const wallet_name of names) await bench.call('POST', '/wallets', { tenant, body: { wallet_name } });
    const page = async (query: string) => (await bench.call('GET', `/wallets${query}`, { tenant })).body;
    expect(await page('?page_size=2')).toMatchObject({
      data: [{ wallet_name: 'e' }, { wallet_name: 'd' }],
      total: 5,
      has_more: true,
    });
    expect(await page('?page=3&page_size=2')).toMatchObject({ data: [{ wallet_name: 'a' }], total: 5, has_more: false });
    expect(await page('?page=4&page_size=2')).toEqual({ data: [], total: 5, has_more: false });
    expect(await page('?page=9007199254740991&page_size=100')).toEqual({ data: [], total: 5, has_more: false });
    expect(await page('')).toMatchObject({ total: 5, has_more: false });
    expect((await page('')).data).toHaveLength(5);
  });

  test.each([
    ['page=0', 'page'],
    ['page=-1', 'page'],
    ['page=1.5', 'page'],
    ['page=x', 'page'],
    ['page=', 'page'],
    ['page=1&page=2', 'page'],
    ['page=99999999999999999999', 'page'],
    ['page_size=0', 'page_size'],
    ['page_size=101', 'page_size'],
    ['pagesize=5', 'pagesize'],
  ])('refuses ?%s', async (query, field) => {
    expectProblem(await bench.call('GET', `/wallets?${query}`), 400, 'invalid_parameter', field);
  });
});

describe('GET /wallets/{id}', () => {
  test('reads a wallet', async () => {
    const { body } = await create();
    const answer = await bench.call('GET', `/wallets/${String(body['wallet_id'])}`);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual(body);
  });

  test.each(['/wallets/', '/wallets/%20'])('says that the id is missing: %s', async (path) => {
    expectProblem(await bench.call('GET', path), 400, 'invalid_parameter', 'id');
  });

  test.each(['unknown', newId(), '%00', "'; drop table wallets"])('does not find %s', async (id) => {
    expectProblem(await bench.call('GET', `/wallets/${id}`), 404, 'not_found');
  });

  test('does not find another client’s wallet', async () => {
    const { body } = await create();
    expectProblem(await bench.call('GET', `/wallets/${String(body['wallet_id'])}`, { tenant: bench.other }), 404, 'not_found');
    expect((await bench.call('GET', '/wallets', { tenant: bench.other })).body).toMatchObject({ data: [], total: 0 });
  });
});
