import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { decisiveChecks } from '../../../src/health/service';
import { metrics } from '../../../src/platform/metrics';
import { createFixture, expectProblem, type Fixture } from './fixture';

let fixture: Fixture;
beforeAll(async () => void (fixture = await createFixture()));
afterAll(() => fixture.close());

const post = (body: string, headers: Record<string, string> = {}, path = '/wallets') =>
  fixture.call('POST', path, { body, headers });

/** Sends raw bytes, for requests that fetch would not send. */
function raw(request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(fixture.port, '127.0.0.1', () => socket.write(request));
    socket.on('data', (data) => (answer += data.toString()));
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
    setTimeout(() => socket.end(), 2_000).unref();
  });
}

describe('bodies', () => {
  test.each([
    ['cut off', '{"wallet_name":'],
    ['no JSON', 'wallet_name=a'],
    ['with a trailing comma', '{"wallet_name":"a",}'],
    ['an array', '[]'],
    ['a string', '"a"'],
    ['a number', '1'],
    ['null', 'null'],
    ['NaN', '{"wallet_name":NaN}'],
    ['empty', ''],
    ['deeply nested arrays', `{"wallet_name":${'['.repeat(20_000)}${']'.repeat(20_000)}}`],
    ['deeply nested objects', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`],
    ['only arrays', '['.repeat(100_000)],
    ['thousands of unknown fields', `{${Array.from({ length: 5_000 }, (_, i) => `"f${i}":1`).join(',')}}`],
  ])('400 for a body that is %s', async (_, body) => {
    const answer = await post(body);
    expectProblem(answer, 400, 'invalid_parameter');
    expect(answer.text.length).toBeLessThan(10_000);
  });

  test.each([
    ['1 MB', JSON.stringify({ wallet_name: 'x'.repeat(1_000_000) })],
    ['just over 100 KB', JSON.stringify({ wallet_name: 'x'.repeat(102_400) })],
  ])('413 for %s', async (_, body) => expectProblem(await post(body), 413, 'payload_too_large'));

  test('413 for 1 MB in chunks without a length', async () => {
    const { status, headers } = await fetch(`${fixture.base}/wallets`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${fixture.demo.token}`, 'Content-Type': 'application/json' },
      body: new ReadableStream({
        start(controller) {
          for (let i = 0; i < 16; i += 1) controller.enqueue(new TextEncoder().encode('x'.repeat(65_536)));
          controller.close();
        },
      }),
      duplex: 'half',
    });
    expect([status, headers.get('content-type')]).toEqual([413, expect.stringContaining('problem+json')]);
  });

  test('413 for a small body that unpacks to a large one', async () => {
    const response = await fetch(`${fixture.base}/wallets`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${fixture.demo.token}`, 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
      body: gzipSync(JSON.stringify({ wallet_name: 'x'.repeat(5_000_000) })),
    });
    expect(response.status).toBe(413);
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/xml', 'application/jsonx', 'multipart/form-data'])(
    '415 for %s',
    async (type) => expectProblem(await post('{"wallet_name":"a"}', { 'Content-Type': type }), 415, 'unsupported_media_type'),
  );
  test('415 for an unknown content encoding', async () =>
    expectProblem(await post('{}', { 'Content-Encoding': 'zap' }), 415, 'unsupported_media_type'));
  test.each(['gzip', 'deflate', 'br'])('400 for a body that is not valid %s', async (encoding) => {
    expectProblem(await post('{}', { 'Content-Encoding': encoding }), 400, 'invalid_parameter', 'body');
  });
  test('a character set in the content type is accepted', async () =>
    expect((await post('{"wallet_name":"a"}', { 'Content-Type': 'application/json; charset=utf-8' })).status).toBe(201));
});

describe('paths and methods', () => {
  test.each(['/nope', '/Wallets', '/wallets/1/2', '/transfers', '/v1/wallets', '/../../etc/passwd', '/wallets/%E0%A4%A'])(
    'no such resource: %s',
    async (path) => {
      const answer = await fixture.call('GET', path);
      expectProblem(answer, answer.status === 400 ? 400 : 404, answer.status === 400 ? 'invalid_parameter' : 'not_found');
    },
  );

  test.each([
    ['DELETE', '/wallets', 'GET, HEAD, POST, OPTIONS'],
    ['PUT', '/wallets/abc', 'GET, HEAD, OPTIONS'],
    ['GET', '/transfer', 'POST, OPTIONS'],
    ['GET', '/auth/token', 'POST, OPTIONS'],
    ['PATCH', '/transactions', 'GET, HEAD, OPTIONS'],
    ['PROPFIND', '/wallets', 'GET, HEAD, POST, OPTIONS'],
    ['POST', '/health/live', 'GET, HEAD, OPTIONS'],
  ])('405 for %s %s', async (method, path, allow) => {
    const answer = await fixture.call(method, path);
    expectProblem(answer, 405, 'method_not_allowed');
    expect(answer.headers.get('allow')).toBe(allow);
  });

  test('OPTIONS names the methods; HEAD has no body', async () => {
    const options = await fixture.call('OPTIONS', '/wallets', { tenant: null });
    expect([options.status, options.headers.get('allow'), options.text]).toEqual([204, 'GET, HEAD, POST, OPTIONS', '']);
    const head = await fixture.call('HEAD', '/wallets');
    expect([head.status, head.text]).toEqual([200, '']);
    expect((await fixture.call('HEAD', '/nope')).status).toBe(404);
  });

  test('unknown query fields are refused on every route', async () => {
    expectProblem(
      await fixture.call('POST', '/wallets?dry_run=1', { body: { wallet_name: 'a' } }),
      400,
      'invalid_parameter',
      'dry_run',
    );
    expectProblem(await fixture.call('GET', '/wallets/abc?x=1'), 400, 'invalid_parameter', 'x');
    expectProblem(await fixture.call('GET', '/transactions?__proto__=1'), 400, 'invalid_parameter');
  });
});

describe('headers', () => {
  test('a safe X-Request-Id is kept, any other is replaced', async () => {
    const id = async (value?: string) =>
      (await fixture.call('GET', '/wallets', { headers: value === undefined ? {} : { 'X-Request-Id': value } })).headers.get(
        'x-request-id',
      );
    expect(await id('order-17.a')).toBe('order-17.a');
    expect(await id('a b')).not.toBe('a b');
    expect(await id('x'.repeat(65))).toHaveLength(36);
    expect(await id()).toHaveLength(36);
  });

  test('a request that is not HTTP gets a problem document too', async () => {
    const answer = await raw('NOT HTTP\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('application/problem+json');
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    const problem = JSON.parse(body) as { request_id: string };
    expect(problem).toMatchObject({ code: 'invalid_parameter', instance: '/', errors: [{ field: 'request' }] });
    expect(head).toContain(`X-Request-Id: ${problem.request_id}`);
    expect(await raw(`GET /api/v1/wallets HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 431 /);
  });
});

describe('health', () => {
  test.each(['/health/live', '/api/v1/health/live'])('%s', async (path) => {
    const response = await fetch(`${fixture.origin}${path}`);
    expect([response.status, await response.json()]).toEqual([200, { status: 'ok' }]);
  });
  test.each(['/health/ready', '/api/v1/health/ready'])('%s: silent chains and signing nodes are a detail', async (path) => {
    const response = await fetch(`${fixture.origin}${path}`);
    expect([response.status, await response.json()]).toEqual([200, { status: 'ok' }]);
    expect(await fixture.resources.health.ready()).toMatchObject({ database: true, signers: false, 'chain:ethereum': false });
  });
  test.each(decisiveChecks)('/health/ready is 503 without %s, and does not say in public what is missing', async (check) => {
    const checks = { ...(await fixture.resources.health.ready()), [check]: false };
    const asked = jest.spyOn(fixture.resources.health, 'ready').mockResolvedValue(checks);
    const response = await fetch(`${fixture.origin}/health/ready`);
    asked.mockRestore();
    expect(response.status).toBe(503);
    const text = await response.text();
    expect(JSON.parse(text)).toMatchObject({ code: 'unavailable', detail: 'Not ready' });
    expect(text).not.toMatch(/checks|database|temporal|signers|ethereum/);
  });
  test.each(['/metrics', '/api/v1/metrics'])('%s is not public; requests are measured by route template', async (path) => {
    await fixture.call('GET', '/wallets/abc');
    expect((await fetch(`${fixture.origin}${path}`)).status).toBe(404);
    const text = await metrics.metrics();
    expect(text).toContain('http_request_duration_seconds_count{method="GET",route="/api/v1/wallets/:id",status="404"}');
    expect(text).not.toContain('/wallets/abc');
  });
});
