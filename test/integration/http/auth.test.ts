import { LoginThrottle } from '../../../src/auth/throttle';
import type { GatewayError } from '../../../src/platform/errors';
import { newId } from '../../../src/platform/ids';
import { buildTenant, createFixture, expectProblem, type Fixture, type Tenant } from './fixture';

let fixture: Fixture;
beforeAll(async () => void (fixture = await createFixture()));
afterAll(() => fixture.close());

let addresses = 0;
/** Each test has its own address, so that the throttle of one does not affect another. */
const address = () => `198.51.100.${(addresses += 1)}`;
const login = (headers: Record<string, string>, from = address()) =>
  fixture.call('POST', '/auth/token', { tenant: null, headers: { 'X-Forwarded-For': from, ...headers } });
const credentials = ({ apiKey, apiSecret }: Tenant) => ({ 'X-API-Key': apiKey, 'X-API-Secret': apiSecret });
const withToken = (token: string) =>
  fixture.call('GET', '/wallets', { tenant: null, headers: { Authorization: `Bearer ${token}` } });

describe('POST /auth/token', () => {
  test('answers a token that works', async () => {
    const answer = await login(credentials(fixture.demo));
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ token: expect.any(String), token_type: 'Bearer', expires_in: 900 });
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect((await withToken(String(answer.body['token']))).status).toBe(200);
    const [head = '', claims = ''] = String(answer.body['token'])
      .split('.')
      .map((part) => Buffer.from(part, 'base64url').toString());
    expect(JSON.parse(head)).toMatchObject({ alg: 'EdDSA', kid: expect.any(String) });
    expect(JSON.parse(claims)).toMatchObject({
      iss: 'test',
      aud: 'test-api',
      sub: fixture.demo.userId,
      client_id: fixture.demo.clientId,
      key_id: fixture.demo.keyId,
    });
  });

  test('answers an unknown key, a wrong secret and missing headers alike', async () => {
    const { apiKey, apiSecret } = fixture.other;
    const answers = await Promise.all([
      login({ 'X-API-Key': apiKey, 'X-API-Secret': 'wrong' }),
      login({ 'X-API-Key': 'unknown', 'X-API-Secret': apiSecret }),
      login({ 'X-API-Key': apiKey }),
      login({ 'X-API-Secret': apiSecret }),
      login({}),
      login({ 'X-API-Key': 'x'.repeat(5000), 'X-API-Secret': 'é' }),
    ]);
    for (const answer of answers) {
      expectProblem(answer, 401, 'invalid_credentials');
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
    expect(new Set(answers.map(({ body }) => JSON.stringify({ ...body, request_id: '' }))).size).toBe(1);
  });

  test('429 after ten failures from an address, with any key; other addresses are not affected', async () => {
    const from = address();
    for (let i = 0; i < 10; i += 1)
      expectProblem(await login({ 'X-API-Key': `k${i}`, 'X-API-Secret': 'x' }, from), 401, 'invalid_credentials');
    const answer = await login({ 'X-API-Key': 'k', 'X-API-Secret': 'x' }, from);
    expectProblem(answer, 429, 'rate_limited');
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expectProblem(await login(credentials(fixture.demo), from), 429, 'rate_limited');
    expect((await login(credentials(fixture.demo))).status).toBe(200);
  });

  test('429 after ten failures with a key from any address; its owner can still log in', async () => {
    const tenant = await buildTenant(fixture);
    for (let i = 0; i < 10; i += 1) await login({ 'X-API-Key': tenant.apiKey, 'X-API-Secret': 'x' });
    expectProblem(await login({ 'X-API-Key': tenant.apiKey, 'X-API-Secret': 'x' }), 429, 'rate_limited');
    expect((await login(credentials(tenant))).status).toBe(200);
  });

  test('30 concurrent failures do not exceed the limit', async () => {
    const from = address();
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, i) => login({ 'X-API-Key': `thirty${i}`, 'X-API-Secret': 'x' }, from)),
    );
    // all of them, so that a failure shows what else was answered
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(10).fill(401), ...Array(20).fill(429)]);
  });

  test('two API processes count together, and separately while Postgres does not respond', async () => {
    const [here, there] = [new LoginThrottle(fixture.database), new LoginThrottle(fixture.database)];
    const fail = async (throttle: LoginThrottle, from: string) =>
      throttle.countFailure(from, newId()).then(
        () => 'counted',
        (error: GatewayError) => error.code,
      );
    const from = address();
    const both = await Promise.all(Array.from({ length: 24 }, (_, i) => fail(i % 2 ? here : there, from)));
    expect(both.sort()).toEqual([...Array(10).fill('counted'), ...Array(14).fill('rate_limited')]);
    for (const throttle of [here, there])
      await expect(throttle.assertAllowed(from)).rejects.toMatchObject({
        code: 'rate_limited',
        retryAfterSeconds: expect.any(Number),
      });
    await here.assertAllowed(address());

    await fixture.database.query('alter table login_failures rename to login_failures_away');
    try {
      const other = address();
      for (const throttle of [here, there]) {
        await throttle.assertAllowed(other);
        const alone = await Promise.all(Array.from({ length: 12 }, () => fail(throttle, other)));
        expect(alone.sort()).toEqual([...Array(10).fill('counted'), ...Array(2).fill('rate_limited')]);
      }
    } finally {
      await fixture.database.query('alter table login_failures_away rename to login_failures');
    }
  });

  test('an address within the same IPv6 /64 is the same', async () => {
    for (let i = 0; i < 10; i += 1) await login({ 'X-API-Key': `v6${i}`, 'X-API-Secret': 'x' }, `2001:db8::${i + 1}`);
    expectProblem(await login({ 'X-API-Key': 'v6', 'X-API-Secret': 'x' }, '2001:0db8:0:0:ffff::1'), 429, 'rate_limited');
  });

  test('only the address that the proxy wrote counts', async () => {
    const from = address();
    for (let i = 0; i < 10; i += 1) await login({ 'X-API-Key': `s${i}`, 'X-API-Secret': 'x' }, `203.0.113.${i}, ${from}`);
    expectProblem(await login({ 'X-API-Key': 's', 'X-API-Secret': 'x' }, `203.0.113.99, ${from}`), 429, 'rate_limited');
  });
});
