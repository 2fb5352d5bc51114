import { newId } from '../../../src/platform/ids';
import { buildTenant, createFixture, expectProblem, type Fixture } from './fixture';

let fixture: Fixture;
beforeAll(async () => void (fixture = await createFixture()));
afterAll(() => fixture.close());

const create = (body: unknown = { wallet_name: 'main' }) => fixture.call('POST', '/wallets', { body });

describe('POST /wallets', () => {
  test('answers 201 with the wallet, PROGRESSING and GENERATING, and starts its key', async () => {
    const answer = await create({ wallet_name: 'main', description: 'for payouts' });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      wallet_id: expect.any(String),
      client_id: fixture.demo.clientId,
      wallet_name: 'main',
      description: 'for payouts',
      external_id: null,
      status: 'PROGRESSING',
      key_status: 'GENERATING',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updated_at: expect.any(String),
    });
    expect(answer.headers.get('location')).toBe(`/api/v1/wallets/${String(answer.body['wallet_id'])}`);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    await fixture.resources.outbox.settled();
    expect(fixture.workflows.keys).toContain(answer.body['wallet_id']);
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

  test('accepts names and descriptions of the maximum length, counted in characters', async () => {
    expect((await create({ wallet_name: '🦊'.repeat(100), description: 'é'.repeat(500) })).status).toBe(201);
  });

  test('is accepted while the workflow service is down; its key is started afterwards, once', async () => {
    const { workflows } = fixture;
    workflows.away = true;
    const answer = await create();
    expect(answer.status).toBe(201);
    await fixture.dispatch();
    workflows.away = false;
    const walletId = String(answer.body['wallet_id']);
    expect(workflows.keys).not.toContain(walletId);
    for (let i = 0; i < 2; i += 1) await fixture.dispatch();
    expect(workflows.keys.filter((key) => key === walletId)).toHaveLength(1);
  });

  test('writes no outbox message when the wallet cannot be stored', async () => {
    await fixture.database.query(`alter table workflow_outbox rename to away`);
    expectProblem(await create({ wallet_name: 'lost' }), 500, 'internal_error');
    await fixture.database.query(`alter table away rename to workflow_outbox`);
    const { data } = (await fixture.call('GET', '/wallets')).body;
    expect(data.map((wallet) => wallet['wallet_name'])).not.toContain('lost');
  });
});

describe('GET /wallets', () => {
  test('pages newest first, with total and has_more', async () => {
    const tenant = await buildTenant(fixture);
    const names = ['a', 'b', 'c', 'd', 'e'];
    for (const wallet_name of names) await fixture.call('POST', '/wallets', { tenant, body: { wallet_name } });
    const page = async (query: string) => (await fixture.call('GET', `/wallets${query}`, { tenant })).body;
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
    expectProblem(await fixture.call('GET', `/wallets?${query}`), 400, 'invalid_parameter', field);
  });
});

describe('GET /wallets/{id}', () => {
  test('reads a wallet', async () => {
    const { body } = await create();
    const answer = await fixture.call('GET', `/wallets/${String(body['wallet_id'])}`);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual(body);
  });

  test.each(['/wallets/', '/wallets/%20'])('says that the id is missing: %s', async (path) => {
    expectProblem(await fixture.call('GET', path), 400, 'invalid_parameter', 'id');
  });

  test.each(['unknown', newId(), '%00', "'; drop table wallets"])('does not find %s', async (id) => {
    expectProblem(await fixture.call('GET', `/wallets/${id}`), 404, 'not_found');
  });

  test('does not find another client’s wallet', async () => {
    const { body } = await create();
    expectProblem(
      await fixture.call('GET', `/wallets/${String(body['wallet_id'])}`, { tenant: fixture.other }),
      404,
      'not_found',
    );
    expect((await fixture.call('GET', '/wallets', { tenant: fixture.other })).body).toMatchObject({ data: [], total: 0 });
  });
});
