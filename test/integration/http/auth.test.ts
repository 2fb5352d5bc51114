import { createHmac, createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { SignJWT, UnsecuredJWT } from 'jose';
import { LoginThrottle } from '../../../src/auth/throttle';
import { ClientOperations } from '../../../src/operations/clients';
import type { GatewayError } from '../../../src/platform/errors';
import { newId } from '../../../src/platform/ids';
import { buildTenant, createBench, expectProblem, tokenOptions, privateKey, type Bench, type Tenant } from './bench';

let bench: Bench;
beforeAll(async () => void (bench = await createBench()));
afterAll(() => bench.close());

let addresses = 0;
/** Every test its own address, so that throttling of one does not reach another. */
const address = () => `198.51.100.${(addresses += 1)}`;
const login = (headers: Record<string, string>, from = address()) =>
  bench.call('POST', '/auth/token', { tenant: null, headers: { 'X-Forwarded-For': from, ...headers } });
const credentials = ({ apiKey, apiSecret }: Tenant) => ({ 'X-API-Key': apiKey, 'X-API-Secret': apiSecret });
const withToken = (token: string) =>
  bench.call('GET', '/wallets', { tenant: null, headers: { Authorization: `Bearer ${token}` } });

describe('POST /auth/token', () => {
  test('answers a token that works', async () => {
    const answer = await login(credentials(bench.demo));
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
      sub: bench.demo.userId,
      client_id: bench.demo.clientId,
      key_id: bench.demo.keyId,
    });
  });

  test('answers an unknown key, a wrong secret and missing headers alike', async () => {
    const { apiKey, apiSecret } = bench.other;
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

  test('429 after ten failures from an address, with any key; others go on', async () => {
    const from = address();
    for (let i = 0; i < 10; i += 1)
      expectProblem(await login({ 'X-API-Key': `k${i}`, 'X-API-Secret': 'x' }, from), 401, 'invalid_credentials');
    const answer = await login({ 'X-API-Key': 'k', 'X-API-Secret': 'x' }, from);
    expectProblem(answer, 429, 'rate_limited');
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expectProblem(await login(credentials(bench.demo), from), 429, 'rate_limited');
    expect((await login(credentials(bench.demo))).status).toBe(200);
  });

  test('429 after ten failures with a key from anywhere; its owner still gets in', async () => {
    const tenant = await buildTenant(bench);
    for (let i = 0; i < 10; i += 1) await login({ 'X-API-Key': tenant.apiKey, 'X-API-Secret': 'x' });
    expectProblem(await login({ 'X-API-Key': tenant.apiKey, 'X-API-Secret': 'x' }), 429, 'rate_limited');
    expect((await login(credentials(tenant))).status).toBe(200);
  });

  test('30 at once are not let through', async () => {
    const from = address();
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, i) => login({ 'X-API-Key': `thirty${i}`, 'X-API-Secret': 'x' }, from)),
    );
    // all of them, so that a failure shows what else was answered
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(10).fill(401), ...Array(20).fill(429)]);
  });

  test('two API processes count together, and each alone while Postgres has no answer', async () => {
    const [here, there] = [new LoginThrottle(bench.database), new LoginThrottle(bench.database)];
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

    await bench.database.query('alter table login_failures rename to login_failures_away');
    try {
      const other = address();
      for (const throttle of [here, there]) {
        await throttle.assertAllowed(other);
        const alone = await Promise.all(Array.from({ length: 12 }, () => fail(throttle, other)));
        expect(alone.sort()).toEqual([...Array(10).fill('counted'), ...Array(2).fill('rate_limited')]);
      }
    } finally {
      await bench.database.query('alter table login_failures_away rename to login_failures');
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

describe('401 unauthorized', () => {
  const claims = () => ({ client_id: bench.demo.clientId, key_id: bench.demo.keyId });
  const kid = () =>
    (JSON.parse(Buffer.from(bench.demo.token.split('.')[0] ?? '', 'base64url').toString()) as { kid: string }).kid;
  const signed = (
    change: (jwt: SignJWT) => SignJWT = (jwt) => jwt,
    key = createPrivateKey(privateKey),
    payload: object = claims(),
    header: object = {},
  ) =>
    change(
      new SignJWT({ ...payload })
        .setProtectedHeader({ alg: 'EdDSA', kid: kid(), ...header })
        .setSubject(bench.demo.userId)
        .setIssuer(tokenOptions.issuer)
        .setAudience(tokenOptions.audience)
        .setIssuedAt()
        .setExpirationTime('5m'),
    ).sign(key);

  test('the crafted tokens below differ from a valid one in one thing each', async () =>
    expect((await withToken(await signed())).status).toBe(200));

  test.each<[string, () => Promise<string> | string]>([
    ['signed with another key', () => signed(undefined, generateKeyPairSync('ed25519').privateKey)],
    ['expired', () => signed((jwt) => jwt.setExpirationTime(Math.floor(Date.now() / 1000) - 1))],
    ['of another issuer', () => signed((jwt) => jwt.setIssuer('other'))],
    ['for another audience', () => signed((jwt) => jwt.setAudience('other'))],
    ['with another kid', () => signed(undefined, undefined, undefined, { kid: 'other' })],
    ['without kid', () => signed(undefined, undefined, undefined, { kid: undefined })],
    ['without a client', () => signed(undefined, undefined, { key_id: bench.demo.keyId })],
    ['of another client with this key', () => signed(undefined, undefined, { ...claims(), client_id: bench.other.clientId })],
    [
      'with alg none',
      () =>
        new UnsecuredJWT(claims())
          .setSubject(bench.demo.userId)
          .setIssuer('test')
          .setAudience('test-api')
          .setExpirationTime('5m')
          .encode(),
    ],
    [
      'HS256 with the public key as secret',
      () => {
        const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
        const text = `${encode({ alg: 'HS256', kid: kid() })}.${encode({ ...claims(), sub: bench.demo.userId, iss: 'test', aud: 'test-api', exp: 2e9, iat: 1 })}`;
        const secret = createPublicKey(createPrivateKey(privateKey)).export({ type: 'spki', format: 'pem' });
        return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
      },
    ],
    [
      'with changed claims',
      () => {
        const [head, , signature] = bench.demo.token.split('.');
        return `${head}.${Buffer.from(JSON.stringify({ ...claims(), client_id: bench.other.clientId })).toString('base64url')}.${signature}`;
      },
    ],
    ['cut off', () => bench.demo.token.slice(0, -2)],
    ['no token', () => 'abc'],
  ])('a token %s', async (_, token) => {
    const answer = await withToken(await token());
    expectProblem(answer, 401, 'unauthorized');
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
  });

  test.each([undefined, '', 'Bearer', 'Basic abc', 'Token x'])('the header Authorization: %s', async (value) => {
    const answer = await bench.call('GET', '/wallets', {
      tenant: null,
      headers: value === undefined ? {} : { Authorization: value },
    });
    expectProblem(answer, 401, 'unauthorized');
  });

  test('stands before every other refusal', async () => {
    for (const [method, path] of [
      ['POST', '/wallets'],
      ['POST', '/transfer'],
      ['GET', '/transactions?x=1'],
      ['GET', '/wallets/'],
      ['POST', '/transactions/x/cancel'],
    ] as const) {
      expectProblem(
        await bench.call(method, path, { tenant: null, ...(method === 'POST' && { body: 'not json' }) }),
        401,
        'unauthorized',
      );
    }
  });
});

describe('revocation works within 5 s', () => {
  const until401 = async ({ token }: Tenant) => {
    expect((await withToken(token)).status).toBe(200);
    return async () => {
      const begun = Date.now();
      while ((await withToken(token)).status === 200) {
        if (Date.now() - begun > 5_000) throw new Error('still works after 5 s');
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    };
  };
  test.each<[string, (operations: ClientOperations, tenant: Tenant) => Promise<unknown>]>([
    ['of the key', (operations, { apiKey }) => operations.revokeKey(apiKey)],
    ['of the user', (operations, { userId }) => operations.setUserStatus(userId, 'DISABLED')],
    ['of the client', (operations, { clientId }) => operations.setClientStatus(clientId, 'DISABLED')],
  ])(
    '%s, for tokens and logins',
    async (_, revoke) => {
      const tenant = await buildTenant(bench);
      const refused = await until401(tenant);
      await revoke(new ClientOperations(bench.database), tenant);
      expectProblem(await login(credentials(tenant)), 401, 'invalid_credentials');
      await refused();
    },
    15_000,
  );
});
