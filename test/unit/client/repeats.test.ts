import { inspect } from 'node:util';
import { GatewayClient, NoAnswerError, ProblemError } from '../../../client/src';
import { retryAfterMs } from '../../../client/src/errors';
import { pauseAfter } from '../../../client/src/repeat';
import { sendOnce } from '../../../client/src/send';
import {
  breakOff,
  credentials,
  type FakeGateway,
  json,
  problem,
  type Reply,
  reset,
  silence,
  startFakeGateway,
} from './fake-gateway';

let fake: FakeGateway;
beforeEach(async () => {
  fake = await startFakeGateway();
});
afterEach(async () => {
  jest.restoreAllMocks();
  await fake.close();
});

const accepted = json(202, { tx_id: 'tx-1', status: 'PENDING' });
const transfer = { from_address: '0x1', to_address: '0x2', chain: 'ethereum', token_symbol: 'ETH', amount: '1' };
const withKey = () => fake.client().transfer('order-1', transfer);
const withoutKey = () => fake.client().post('/transfer', { body: transfer });
const soon = { 'retry-after': '0' };
const thrown = async (work: Promise<unknown>): Promise<ProblemError> => {
  const error = await work.then(
    () => new Error('nothing was thrown'),
    (reason: unknown) => reason,
  );
  return error as ProblemError;
};

const repeated: [string, Reply][] = [
  ['a reset connection', reset],
  ['an answer that breaks off', breakOff],
  ['503 unavailable', problem(503, 'unavailable', {}, soon)],
  ['503 chain_unavailable', problem(503, 'chain_unavailable', {}, soon)],
  ['503 reconcile_required', problem(503, 'reconcile_required', {}, soon)],
  ['503 outcome_unknown', problem(503, 'outcome_unknown', {}, soon)],
  ['503 of a proxy', json(503, { error: 'busy' }, soon)],
  ['502 of a proxy', json(502, {}, soon)],
  ['500 internal_error', problem(500, 'internal_error', {}, soon)],
  ['429 rate_limited', problem(429, 'rate_limited', {}, soon)],
  ['409 idempotency_in_progress', problem(409, 'idempotency_in_progress', {}, soon)],
  ['400 wallet_not_active with Retry-After', problem(400, 'wallet_not_active', { reason: 'generating' }, soon)],
];

test.each(repeated)('%s: the same request with the same key', async (_, fault) => {
  fake.replies = [fault, fault, accepted];
  expect(await withKey()).toMatchObject({ tx_id: 'tx-1' });
  expect(fake.seen).toHaveLength(3);
  for (const { method, url, body, headers } of fake.seen) {
    expect([method, url, JSON.parse(body)]).toEqual(['POST', '/api/v1/transfer', transfer]);
    expect(headers).toMatchObject({ 'idempotency-key': 'order-1', authorization: 'Bearer token-1' });
  }
});

test.each(repeated)('%s: without a key only what has surely stored nothing is repeated', async (name, fault) => {
  fake.replies = [fault, accepted];
  const surely = /chain_unavailable|reconcile|rate_limited|in_progress|wallet_not_active/.test(name);
  if (surely) expect(await withoutKey()).toMatchObject({ tx_id: 'tx-1' });
  else expect(await thrown(withoutKey())).toBeInstanceOf(/reset|breaks/.test(name) ? NoAnswerError : ProblemError);
  expect(fake.seen).toHaveLength(surely ? 2 : 1);
  expect(fake.seen[0]?.headers).not.toHaveProperty('idempotency-key');
});

test.each(repeated)('%s: what reads needs no key to be repeated', async (_, fault) => {
  fake.replies = [fault, json(200, { data: [] })];
  expect(await fake.client().get('/wallets')).toEqual({ data: [] });
  expect(fake.seen).toHaveLength(2);
});

test.each([
  [400, 'invalid_parameter'],
  [400, 'wallet_not_active'],
  [400, 'MFA_INVALID'],
  [403, 'address_blacklisted'],
  [404, 'not_found'],
  [409, 'external_id_in_use'],
  [422, 'idempotency_key_reused'],
])('%s %s is not repeated', async (status, code) => {
  fake.replies = [problem(status, code), accepted];
  expect(await thrown(withKey())).toMatchObject({ status, code, requestId: 'r-1', attempts: 1 });
  expect(fake.seen).toHaveLength(1);
});

test('a 429 is not repeated with the code of a second factor, which would be an old one then', async () => {
  fake.replies = [problem(429, 'rate_limited', {}, soon)];
  const params = { header: { 'Idempotency-Key': 'k' } };
  const withCode = fake.client().post('/webhooks', { params, body: { url: 'https://host', mfa_code: '123456' } });
  expect(await thrown(withCode)).toMatchObject({ code: 'rate_limited', retryAfterMs: 0, attempts: 1 });
  expect(fake.seen).toHaveLength(1);
});

test.each([[undefined], [null], [4711], [''], ['é'], ['a\nb'], ['x'.repeat(256)]])(
  'a transfer with the key %p is not sent',
  async (key) => {
    const error = await thrown(fake.client().transfer(key as string, transfer));
    expect(error).toEqual(new TypeError('idempotencyKey has to be 1 to 255 printable ASCII characters'));
    expect([fake.tokens.length, fake.seen.length]).toEqual([0, 0]);
  },
);

test('the longest key is sent as it is', async () => {
  const key = `!${'~ '.repeat(126)}~~`;
  fake.replies = [accepted];
  await fake.client().transfer(key, transfer);
  expect([key.length, fake.seen[0]?.headers['idempotency-key']]).toEqual([255, key]);
});

test('a refusal names the field, and has what the problem document has beside', async () => {
  const errors = [{ field: 'amount', message: 'must be a decimal string' }];
  fake.replies = [problem(400, 'invalid_parameter', { errors })];
  const error = await thrown(withKey());
  expect(error).toBeInstanceOf(ProblemError);
  expect(error).toMatchObject({
    name: 'ProblemError',
    field: 'amount',
    fields: errors,
    problem: { detail: 'detail of invalid_parameter' },
  });
  expect(error.message).toBe('POST /api/v1/transfer was answered with 400 invalid_parameter: detail of invalid_parameter');
});

const isJson = { 'content-type': 'application/json' };
test.each<[string, Reply]>([
  ['HTML', (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>whsec_x')],
  ['success without a body', (response) => void response.writeHead(200, isJson).end()],
  ['success of no length', (response) => void response.writeHead(200, { ...isJson, 'content-length': '0' }).end()],
  ['success whose JSON is cut', (response) => void response.writeHead(200, isJson).end('{"secret":"whsec_')],
  ['a redirect', json(307, {}, { location: '/api/v1/elsewhere' })],
  ['a problem that is none', json(404, { secret: 1 }, { 'content-type': 'application/problem+json' })],
])('%s is no answer of the gateway', async (_, reply) => {
  fake.replies = [reply];
  const error = await thrown(withKey());
  expect(error).toBeInstanceOf(ProblemError);
  expect(error).toMatchObject({ code: 'unexpected_answer', problem: null, field: null });
  expect(inspect(error, { depth: 20, showHidden: true, getters: true })).not.toContain('whsec_');
  expect(fake.seen).toHaveLength(1);
});

test('there are no more requests than the limit allows, and the last failure is thrown', async () => {
  fake.replies = [reset];
  const error = await thrown(fake.client({ limits: { attempts: 3, pauseMs: 1 } }).transfer('k', transfer));
  expect(error).toBeInstanceOf(NoAnswerError);
  expect(error.message).toBe('POST /api/v1/transfer got no answer in 3 attempts');
  expect(fake.seen).toHaveLength(3);
});

test('a pause that would end after the time for all is not begun', async () => {
  fake.replies = [problem(503, 'unavailable', {}, { 'retry-after': '3600' })];
  expect(await thrown(withKey())).toMatchObject({ code: 'unavailable', retryAfterMs: 3_600_000, attempts: 1 });
});

test('an answer that does not come is not waited for longer than the limit', async () => {
  fake.replies = [silence, accepted];
  const client = fake.client({ limits: { attemptMs: 500, attempts: 20, pauseMs: 1 } });
  // the token has to come within the limit too
  expect(await client.transfer('k', transfer)).toMatchObject({ tx_id: 'tx-1' });
  // the second answer may be late as well
  expect(fake.seen.length).toBeGreaterThanOrEqual(2);
});

test('the time that the token takes is not taken from the request', async () => {
  let passedMs = 0;
  const now = performance.now.bind(performance);
  jest.spyOn(performance, 'now').mockImplementation(() => now() + passedMs);
  fake.tokenReplies = [
    (response, seen) => {
      passedMs = 121_000;
      json(200, { token: 'late', expires_in: 900 })(response, seen);
    },
  ];
  fake.replies = [problem(503, 'unavailable', {}, soon), accepted];
  expect(await withKey()).toMatchObject({ tx_id: 'tx-1' });
});

test('a request whose signal was aborted before leaves no timer', async () => {
  const timers = jest.spyOn(globalThis, 'setTimeout');
  const outgoing = { method: 'GET', url: 'http://127.0.0.1', headers: new Headers(), body: null };
  const sent = sendOnce(fetch, outgoing, { timeoutMs: 60_000, signal: AbortSignal.abort(new Error('before')) });
  expect((await thrown(sent)).message).toBe('before');
  expect(timers).not.toHaveBeenCalled();
});

test('an answer without an end is not read for ever', async () => {
  const part = Buffer.alloc(1024 * 1024, ' ');
  fake.replies = [
    (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      for (let count = 0; count < 17; count += 1) response.write(part);
    },
  ];
  const error = await thrown(fake.client({ limits: { attempts: 1 } }).transfer('k', transfer));
  expect(error).toBeInstanceOf(NoAnswerError);
  expect(error.cause).toMatchObject({ message: 'the answer is longer than 16777216 bytes' });
});

test('a signal ends the request and the pause, with its own reason', async () => {
  const controller = new AbortController();
  fake.replies = [
    (response, seen) => {
      problem(503, 'unavailable', {}, { 'retry-after': '60' })(response, seen);
      // once the answer is read and the pause has begun
      response.once('close', () => setTimeout(() => controller.abort(new Error('shut down')), 100));
    },
  ];
  expect((await thrown(fake.client().transfer('k', transfer, controller.signal))).message).toBe('shut down');
  const other = new AbortController();
  fake.replies = [() => other.abort(new Error('during the request'))];
  expect((await thrown(fake.client().get('/wallets', { signal: other.signal }))).message).toBe('during the request');
});

test('pauses: what the gateway asks for at least, doubled from the second failure of a server on, up to a minute; up to a fifth longer', () => {
  const failure = (status: number, code: string, retryAfter?: string) =>
    new ProblemError(status, 'GET /', { code } as never, new Headers(retryAfter ? { 'retry-after': retryAfter } : {}), 1);
  const waits = (error: ProblemError | NoAnswerError, random = 0) =>
    [1, 2, 3, 6].map((attempt) => pauseAfter(error, { attempt, safe: true, pauseMs: 500 }, () => random));
  expect(waits(failure(503, 'unavailable', '5'))).toEqual([5_000, 10_000, 20_000, 60_000]);
  expect(waits(failure(503, 'unavailable', '90'))).toEqual([90_000, 90_000, 90_000, 90_000]);
  expect(waits(failure(429, 'rate_limited', '3'), 1)).toEqual([3_600, 3_600, 3_600, 3_600]);
  expect(waits(new NoAnswerError('GET /', 1, null))).toEqual([500, 1_000, 2_000, 16_000]);
  expect(waits(failure(409, 'idempotency_in_progress'))).toEqual([2_000, 2_000, 2_000, 2_000]);
});

test.each([
  ['7', 7_000],
  ['Thu, 01 Jan 2026 00:00:10 GMT', 10_000],
  ['Thu, 01 Jan 2015 00:00:00 GMT', 0],
  ['-5', null],
  ['soon', null],
  ['', null],
])('Retry-After: %s', (value, expected) => {
  expect(retryAfterMs(new Headers({ 'retry-after': value }), Date.parse('2026-01-01T00:00:00Z'))).toBe(expected);
});

describe('no secret is shown', () => {
  const { apiKey, apiSecret } = credentials;
  const shownIn = (value: unknown) => inspect(value, { depth: 20, showHidden: true, getters: true });

  test('by the client', async () => {
    const client = fake.client();
    await client.accessToken();
    for (const text of [shownIn(client), JSON.stringify(client)])
      for (const secret of [apiKey, apiSecret, 'token-1']) expect(text).not.toContain(secret);
  });

  test.each([
    ['refusal', problem(400, 'invalid_parameter')],
    ['lost connection', reset],
    ['answer that breaks off', breakOff],
  ] as const)('by the error of a %s', async (_, reply) => {
    fake.replies = [reply];
    const error = await thrown(fake.client({ limits: { attempts: 1 } }).transfer('k', { ...transfer, memo: 'private' }));
    for (const secret of [apiKey, apiSecret, 'token-1', 'private', 'whsec_']) expect(shownIn(error)).not.toContain(secret);
  });

  test('by the error of a token that cannot be used, or that is not there', async () => {
    for (const body of [{ token: 'to\nken', expires_in: 900 }, { token: 'token', expires_in: 'x' }, null, 'token']) {
      fake.tokenReplies = [json(200, body)];
      const error = await thrown(fake.client().get('/wallets'));
      expect(error.message).toBe('the answer to POST /auth/token has no token');
      expect(shownIn(error)).not.toContain('to\\nken');
    }
    fake.tokenReplies = [(response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('tok-secret')];
    const error = await thrown(fake.client().get('/wallets'));
    expect(error.message).toBe('POST /api/v1/auth/token was answered with 200 unexpected_answer');
    expect(shownIn(error)).not.toContain('tok-');
  });

  test.each([
    [{ apiSecret: 'my\nsecret' }, 'apiSecret has to be printable ASCII without spaces'],
    [{ apiKey: '' }, 'apiKey has to be printable ASCII without spaces'],
    [{ baseUrl: 'https://user:my@host/api' }, 'baseUrl has to be an http or https URL without credentials, query and fragment'],
    [{ baseUrl: 'file:///etc' }, 'baseUrl has to be an http or https URL without credentials, query and fragment'],
    [{ limits: { attempts: NaN } }, 'limits.attempts has to be a number from 0 to 2147483647'],
    [{ limits: { pauseMs: -1 } }, 'limits.pauseMs has to be a number from 0 to 2147483647'],
    [{ limits: { attemptMs: 2_147_483_648 } }, 'limits.attemptMs has to be a number from 0 to 2147483647'],
  ])('by the refusal of the options %j', (options, message) => {
    expect(() => new GatewayClient({ baseUrl: 'https://host', ...credentials, ...options })).toThrow(new TypeError(message));
  });
});
