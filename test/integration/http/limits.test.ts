import Joi from 'joi';
import { createApp } from '../../../src/http/app';
import { RequestLimits } from '../../../src/http/limits/limits';
import { listen } from '../../../src/http/server';
import { type Route, documented } from '../../../src/http/route';
import { body } from '../../../src/http/validate';
import { mfaCode } from '../../../src/mfa/request';
import { createLogger } from '../../../src/platform/logging';
import { metrics } from '../../../src/platform/metrics';
import { readDocument } from '../../openapi';
import { waitFor } from '../../stack/client';
import {
  buildTenant,
  createFixture,
  expectProblem,
  roomyLimits,
  type Answer,
  type Fixture,
  type FixtureOptions,
  type Tenant,
} from './fixture';

/** Per minute; a window of 10 s has a sixth of it. */
const perMinute = (perWindow: number) => perWindow * 6;

const fixtures: Fixture[] = [];
/** `limits` are counted in Postgres alone, however slow it is: what one process counted by itself beside it would be more. */
async function start({ limits, ...options }: FixtureOptions): Promise<Fixture> {
  const fixture = await createFixture({ ...options, limits: { storeTimeoutMs: 30_000, ...limits } });
  fixtures.push(fixture);
  return fixture;
}
/** One database for all tests; each test has its own address and client. */
let first: Fixture;
beforeAll(async () => void (first = await start({})));
afterAll(async () => {
  for (const fixture of fixtures.reverse()) await fixture.close();
});

let addresses = 0;
const address = () => `198.51.100.${(addresses += 1)}`;
const list = (fixture: Fixture, tenant: Tenant | null, from = address()) =>
  fixture.call('GET', '/wallets', { tenant, headers: { 'X-Forwarded-For': from } });
const many = (count: number, ask: (i: number) => Promise<Answer>) => Promise.all(Array.from({ length: count }, (_, i) => ask(i)));
const statuses = (answers: Answer[]) =>
  answers.reduce<Record<number, number>>((counts, { status }) => ({ ...counts, [status]: (counts[status] ?? 0) + 1 }), {});
const refusals = async (reason: string) =>
  Number(new RegExp(`refused_total\\{reason="${reason}"\\} (\\d+)`).exec(await metrics.metrics())?.[1] ?? 0);
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('per client', () => {
  let fixture: Fixture;
  beforeAll(async () => void (fixture = await start({ shared: first, limits: { clientPerMinute: perMinute(20) } })));

  test('answers have the remaining quota; beyond it 429 until the window ends; other clients are not affected', async () => {
    const [tenant, quiet] = [await buildTenant(first), await buildTenant(first)];
    const begun = Date.now();
    const one = await list(fixture, tenant);
    expect([one.status, one.headers.get('ratelimit-policy')]).toEqual([200, '"client";q=20;w=10']);
    expect(one.headers.get('ratelimit')).toMatch(/^"client";r=19;t=(10|9)$/);
    const before = await refusals('client');
    const flood = await many(40, () => list(fixture, tenant));
    expect(statuses(flood)).toEqual({ 200: 19, 429: 21 });
    expect(await refusals('client')).toBe(before + 21);
    const refused = flood.find(({ status }) => status === 429) as Answer;
    expectProblem(refused, 429, 'rate_limited');
    expect(refused.headers.get('ratelimit')).toMatch(/^"client";r=0;t=\d+$/);
    const seconds = Number(refused.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(10);
    expect((await list(fixture, quiet)).status).toBe(200);

    await wait(seconds * 1_000 + 100);
    expect((await list(fixture, tenant)).status).toBe(200);
    expect(Date.now() - begun).toBeGreaterThanOrEqual(9_900);
  });

  test('errors after authentication have the remaining quota too; requests without a token do not', async () => {
    const tenant = await buildTenant(first);
    const missing = await fixture.call('GET', '/wallets/nope', { tenant });
    expect([missing.status, missing.headers.get('ratelimit')]).toEqual([404, expect.stringMatching(/^"client";r=19;/)]);
    const nobody = await list(fixture, null);
    expect([nobody.status, nobody.headers.get('ratelimit')]).toEqual([401, null]);
  });

  test('two processes share one quota', async () => {
    const tenant = await buildTenant(first);
    const twin = await start({ shared: first, limits: { clientPerMinute: perMinute(20) } });
    const answers = await many(60, (i) => list(i % 2 ? fixture : twin, tenant));
    expect(statuses(answers)).toEqual({ 200: 20, 429: 40 });
  });

  test('while the table is missing every process counts on its own, and nothing fails', async () => {
    const tenant = await buildTenant(first);
    const twin = await start({ shared: first, limits: { clientPerMinute: perMinute(20) } });
    await first.database.query('alter table request_quotas rename to request_quotas_away');
    try {
      expect(statuses(await many(25, () => list(fixture, tenant)))).toEqual({ 200: 20, 429: 5 });
      expect(statuses(await many(25, () => list(twin, tenant)))).toEqual({ 200: 20, 429: 5 });
    } finally {
      await first.database.query('alter table request_quotas_away rename to request_quotas');
    }
  });

  test('a database that hangs delays a request by half a second, not by its time-out', async () => {
    const tenant = await buildTenant(first);
    const usual = await createFixture({ shared: first, limits: { clientPerMinute: perMinute(20) } });
    fixtures.push(usual);
    // the key is cached, so that only the quota queries the database
    await usual.call('POST', '/wallets', { tenant, body: {} });
    const lock = first.database.createQueryRunner();
    await lock.startTransaction();
    await lock.query('lock table request_quotas in access exclusive mode');
    try {
      const begun = Date.now();
      // three slices are claimed: each claim waits for the database
      const answers = await many(10, () => usual.call('POST', '/wallets', { tenant, body: {} }));
      expect(statuses(answers)).toEqual({ 400: 10 });
      expect(Date.now() - begun).toBeLessThan(30_000);
    } finally {
      await lock.rollbackTransaction();
      await lock.release();
    }
  });

  test('requests in flight are limited, per client and in all', async () => {
    const busy = await start({ shared: first, limits: { inFlightPerClient: 3, inFlight: 5 } });
    const [tenant, other] = [await buildTenant(first), await buildTenant(first)];
    const slow = (from: Tenant) => busy.call('POST', '/wallets', { tenant: from, body: { wallet_name: 'slow' } });
    await first.database.query(
      `create function hesitate() returns trigger language plpgsql as 'begin perform pg_sleep(5); return new; end'`,
    );
    await first.database.query('create trigger hesitate before insert on wallets for each row execute function hesitate()');
    const sleeping = async () => {
      const [row] = await first.database.query<{ count: number }[]>(
        `select count(*)::int from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`,
      );
      return row?.count;
    };
    const mine = many(3, () => slow(tenant));
    await waitFor(async () => (await sleeping()) === 3);
    const fourth = await slow(tenant);
    expectProblem(fourth, 429, 'rate_limited');
    expect([fourth.headers.get('retry-after'), fourth.headers.get('ratelimit')]).toEqual([
      '1',
      expect.stringContaining('"in-flight";r=0;t=1'),
    ]);
    const theirs = many(2, () => slow(other));
    await waitFor(async () => (await sleeping()) === 5);
    const sixth = await list(busy, other);
    expectProblem(sixth, 503, 'unavailable');
    expect(sixth.headers.get('retry-after')).toBe('1');
    expect((await busy.call('GET', '/health/live', { tenant: null })).status).toBe(200);
    expect(statuses([...(await mine), ...(await theirs)])).toEqual({ 201: 5 });
    await first.database.query('drop trigger hesitate on wallets');
    expect((await slow(tenant)).status).toBe(201);
  });
});

describe('per address', () => {
  let fixture: Fixture;
  beforeAll(async () => {
    const limits = { addressPerMinute: perMinute(12), tokenPerMinute: perMinute(4) };
    fixture = await start({ shared: first, limits });
  });

  test('counts requests without a token and to unknown paths; health is exempt', async () => {
    const headers = { 'X-Forwarded-For': address() };
    const answers = await many(20, (i) => fixture.call('GET', i % 2 ? '/wallets' : '/nope', { tenant: null, headers }));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(8);
    expectProblem(refused[0] as Answer, 429, 'rate_limited');
    expect((refused[0] as Answer).headers.get('ratelimit')).toMatch(/^"address";r=0;t=\d+$/);
    expect((refused[0] as Answer).headers.get('ratelimit-policy')).toBe('"address";q=12;w=10');
    expectProblem(await fixture.call('GET', '/wallets', { headers }), 429, 'rate_limited');
    expect((await list(fixture, fixture.demo)).status).toBe(200);
    for (const path of ['/health/live', '/api/v1/health/live'])
      expect((await fetch(`${fixture.origin}${path}`, { headers })).status).toBe(200);
  });

  test('the document, the page that shows it and what points to them are limited like all others', async () => {
    const headers = { 'X-Forwarded-For': address() };
    const served = ['/api/v1/openapi.json', '/api/v1/docs', '/api/v1/docs/reference.js', '/docs', '/'];
    const ask = async (path: string) => {
      const response = await fetch(`${fixture.origin}${path}`, { headers, redirect: 'manual' });
      return { status: response.status, retryAfter: response.headers.get('retry-after'), text: await response.text() };
    };
    // they count themselves
    const first = await Promise.all(Array.from({ length: 20 }, (_, i) => ask(served[i % served.length] as string)));
    expect(first.filter(({ status }) => status === 429)).toHaveLength(8);
    for (const path of served) {
      const { status, retryAfter, text } = await ask(path);
      expect([path, status, Number(retryAfter) > 0]).toEqual([path, 429, true]);
      expect(JSON.parse(text)).toMatchObject({ code: 'rate_limited', status: 429 });
    }
  });

  test('an IPv6 /64 is one address', async () => {
    const answers = await many(20, (i) => list(fixture, null, `2001:db8:7:7::${i.toString(16)}`));
    expect(statuses(answers)).toEqual({ 401: 12, 429: 8 });
  });

  test('X-Forwarded-For counts only behind a proxy, and there only what the proxy wrote', async () => {
    const from = address();
    expect(statuses(await many(20, (i) => list(fixture, null, `203.0.113.${i}, ${from}`)))).toEqual({ 401: 12, 429: 8 });
    // 127.0.0.1 has used more than that at the other fixtures, or nothing if a window has just begun
    const open = await start({ shared: first, trustProxy: false, limits: { addressPerMinute: perMinute(12) } });
    const direct = await many(20, () => list(open, null));
    expect(statuses(direct)[429]).toBeGreaterThanOrEqual(8);
  });

  test('tokens are limited more strictly', async () => {
    const headers = { 'X-Forwarded-For': address(), 'X-API-Key': first.demo.apiKey, 'X-API-Secret': first.demo.apiSecret };
    const answers = await many(6, () => fixture.call('POST', '/auth/token', { tenant: null, headers }));
    expect(statuses(answers)).toEqual({ 200: 4, 429: 2 });
    for (const answer of answers) expect(answer.headers.get('ratelimit-policy')).toBe('"token";q=4;w=10');
    expect((await fixture.call('GET', '/wallets', { headers })).status).toBe(200);
  });
});

test('routes with an mfa_code in their body get a stricter limit automatically, and the document shows it', async () => {
  const limits = new RequestLimits(first.database, { ...roomyLimits, mfaPerMinute: perMinute(3), storeTimeoutMs: 30_000 });
  const { clientId, userId, keyId } = first.demo;
  const authenticate = documented({ authenticated: true, fails: ['unauthorized'] }, (ctx, next) => {
    ctx.state.caller = { clientId, userId, keyId };
    return next();
  });
  const route = (path: string, fields: Joi.PartialSchemaMap): Route => ({
    method: 'put',
    path,
    id: path.slice(1),
    tag: 'Operations',
    summary: path,
    middleware: [authenticate, body(Joi.object(fields))],
    answer: { status: 200, description: 'Done', schema: Joi.object({}) },
    fails: [],
    handle: (ctx) => {
      ctx.body = {};
    },
  });
  const routes = [route('/open', {}), route('/guarded', { mfa_code: mfaCode() })];
  const options = { log: createLogger('test', 'fatal'), trustProxy: false, operational: [], events: [], environment: 'local' };
  const server = await listen(createApp({ ...options, routes, limits }), '127.0.0.1', 0);
  const put = (path: string) => fetch(`http://127.0.0.1:${server.port}/api/v1${path}`, { method: 'PUT' });
  try {
    const guarded = await Promise.all(Array.from({ length: 5 }, () => put('/guarded')));
    expect(guarded.map(({ status }) => status).sort()).toEqual([200, 200, 200, 429, 429]);
    const refused = guarded.find(({ status }) => status === 429) as Response;
    expect(refused.headers.get('ratelimit')).toMatch(/^"client";r=\d+;t=\d+, "mfa";r=0;t=\d+$/);
    expect(refused.headers.get('ratelimit-policy')).toMatch(/^"client";q=\d+;w=10, "mfa";q=3;w=10$/);
    expect((await put('/open')).status).toBe(200);
    const document = readDocument(await (await fetch(`http://127.0.0.1:${server.port}/api/v1/openapi.json`)).json());
    for (const path of ['/open', '/guarded']) {
      const responses = document.paths[path]?.['put']?.responses ?? {};
      for (const status of ['200', '400', '429'])
        expect(Object.keys(responses[status]?.headers ?? {})).toEqual(expect.arrayContaining(['RateLimit', 'RateLimit-Policy']));
      expect(Object.keys(responses['401']?.headers ?? {})).not.toContain('RateLimit');
      expect(Object.keys(responses['429']?.headers ?? {})).toContain('Retry-After');
    }
  } finally {
    await server.close();
  }
});
