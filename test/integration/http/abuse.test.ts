import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import Koa from 'koa';
import type { GatewayState } from '../../../src/http/context';
import { RefusalPace } from '../../../src/http/limits/refusal-pace';
import { withinOpenFiles } from '../../../src/http/open-connections';
import { listen } from '../../../src/http/server';
import { createFixture, expectProblem, type Fixture } from './fixture';

/** What one client can do to the others by requests that are long, slow, malformed or many at a time. On the loopback interface only. */

let fixture: Fixture;
beforeAll(async () => void (fixture = await createFixture()));
afterAll(() => fixture.close());

interface Talk {
  text: string;
  closed: boolean;
  /** What the server's side has taken of what was sent, at most. */
  sent: number;
}

/** More than the buffers of the operating system hold. */
const mostBytes = 40 << 20;
const anAnswer = /\r\n\r\n\{[^]*\}$/;

interface TalkOptions {
  /** Sent every 20 ms afterwards. */
  more?: Buffer;
  /** Nothing more is read then. */
  enough?: RegExp;
  readAfterMs?: number;
  port?: number;
}

/** Sends this and `more`, never closes the connection itself, and reports when it is closed, when it has read `enough`, or after 8 s. */
async function talk(first: string | Buffer, options: TalkOptions = {}): Promise<Talk> {
  const { more, enough, readAfterMs = 0, port = fixture.port } = options;
  const socket: Socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const seen: Talk = { text: '', closed: false, sent: 0 };
  let next = more;
  socket.on('data', (data) => (seen.text += data.toString())).pause();
  setTimeout(() => socket.resume(), readAfterMs);
  socket.on('error', () => undefined);
  // the server may have closed its half only: what is sent to a connection that it has destroyed is answered with a reset
  socket.on('end', () => (next ??= Buffer.from('x')));
  socket.on('close', () => (seen.closed = true));
  socket.write(first);
  const until = Date.now() + 8_000;
  while (!seen.closed && !enough?.test(seen.text) && Date.now() < until) {
    if (next && socket.writableLength === 0) socket.write(next);
    await delay(20);
  }
  seen.sent = socket.bytesWritten - socket.writableLength;
  socket.destroy();
  return seen;
}

const get = (path: string, headers: string[] = ['Host: a']) => `GET ${path} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`;
const post = (path: string, headers: string[]) =>
  `POST /api/v1${path} HTTP/1.1\r\n${['Host: a', 'Content-Type: application/json', ...headers].join('\r\n')}\r\n\r\n`;
const authorised = () => `Authorization: Bearer ${fixture.demo.token}`;
const statusesIn = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));

describe('long requests are refused before they are validated', () => {
  const many = 'a&'.repeat(3_800);
  test.each(['/wallets', '/health/live', '/openapi.json', '/nope'])('thousands of query parameters: %s', async (path) =>
    expectProblem(await fixture.call('GET', `${path}?${many}`), 400, 'invalid_parameter', 'query'),
  );
  test('as many as any route has are not too many', async () => {
    const query = Array.from({ length: 50 }, (_, i) => `a${i}=1`).join('&');
    expectProblem(await fixture.call('GET', `/wallets?${query}`), 400, 'invalid_parameter', 'a0');
  });
  test('thousands of items in a list', async () => {
    const body = { url: 'https://a.example', events: Array.from({ length: 30_000 }, () => ({})) };
    const answer = await fixture.call('POST', '/webhooks', { body });
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('has more than 2000 values')]);
  });
  test('values are counted as they are: those of lists and objects, and nothing within a text', async () => {
    const post = async (body: string) => (await fixture.call('POST', '/wallets', { body })).text;
    // the body, its two fields, and so many items
    const listOf = (item: string, items: number) =>
      `{"wallet_name": "\\",{[" , "x": [ ${Array(items).fill(item).join(' , ')}\n]}`;
    expect(await post(listOf('1', 1_997))).toContain('is not a known field');
    expect(await post(listOf('1', 1_998))).toContain('has more than 2000 values');
    expect(await post(listOf('[]', 1_997))).toContain('is not a known field');
    expect(await post(listOf('[]', 1_998))).toContain('has more than 2000 values');
    expect(await post(listOf('{ "a": 1 }', 999))).toContain('has more than 2000 values');
    expect(await post(listOf('{ "a": 1 }', 998))).toContain('is not a known field');
    expect(await post(JSON.stringify({ wallet_name: ',[{"'.repeat(5_000) }))).not.toContain('values');
  });
  test('many levels', async () => {
    const nested = (levels: number) => `{"wallet_name":${'['.repeat(levels)}${']'.repeat(levels)}}`;
    expect((await fixture.call('POST', '/wallets', { body: nested(40) })).text).toContain('has more than 32 levels');
    expect((await fixture.call('POST', '/wallets', { body: nested(20) })).text).toContain('wallet_name');
    expect((await fixture.call('POST', '/wallets', { body: nested(31) })).text).not.toContain('levels');
    expect((await fixture.call('POST', '/wallets', { body: nested(32) })).text).toContain('has more than 32 levels');
  });
  test.each(['verify', 'settle'])('where any JSON is answered too: x402/%s', async (endpoint) => {
    const post = async (paymentPayload: string) => {
      const body = `{"x402Version":2,"paymentPayload":${paymentPayload}}`;
      const { status, text } = await fixture.call('POST', `/x402/${endpoint}`, { body });
      return { status, text };
    };
    const list = (items: number) => `[${Array(items).fill('1').join(',')}]`;
    const nested = (levels: number) => '{"a":'.repeat(levels - 1) + '{}' + '}'.repeat(levels - 1);
    const refused = (message: string) => ({ status: 400, text: expect.stringContaining(message) as string });
    // the body, its two fields, and so many items
    expect(await post(list(1_998))).toEqual(refused('has more than 2000 values'));
    expect(await post(list(1_997))).toMatchObject({ status: 200 });
    expect(await post(nested(32))).toEqual(refused('has more than 32 levels'));
    expect(await post(nested(31))).toMatchObject({ status: 200 });
    // as long as a body may be
    expect(await post(list(50_000))).toEqual(refused('has more than 2000 values'));
  });
});

describe('what cannot be read exactly is refused', () => {
  const wallet = (bytes: Buffer, type = 'application/json') =>
    talk(
      Buffer.concat([
        Buffer.from(
          `POST /api/v1/wallets HTTP/1.1\r\nHost: a\r\n${authorised()}\r\nContent-Type: ${type}\r\nContent-Length: ${bytes.length}\r\n\r\n`,
        ),
        bytes,
      ]),
      { enough: anAnswer },
    );
  test.each([
    ['a byte that UTF-8 does not have', Buffer.from([0xff])],
    ['a sequence that is cut off', Buffer.from([0xe2, 0x82])],
    ['a surrogate', Buffer.from([0xed, 0xa0, 0x80])],
  ])('a body with %s: 400', async (_, bytes) => {
    const { text } = await wallet(Buffer.concat([Buffer.from('{"wallet_name":"'), bytes, Buffer.from('"}')]));
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(text).toContain('is not valid UTF-8');
  });
  test('a body in another character set: 415', async () => {
    const { text } = await wallet(Buffer.from('{"wallet_name":"\xfc"}', 'latin1'), 'application/json; charset=ISO-8859-1');
    expect(text).toMatch(/^HTTP\/1\.1 415 /);
  });
  test.each(['%FF', '%E2%82', '%'])('a query with %s: 400', async (text) =>
    expectProblem(await fixture.call('GET', `/wallets?page=${text}`), 400, 'invalid_parameter', 'query'),
  );
  test('two Hosts, or none: 400 with a problem document', async () => {
    for (const headers of [['Host: a', 'Host: b'], ['X: 1']]) {
      const { text } = await talk(get('/health/live', headers), { enough: anAnswer });
      expect(text).toMatch(/^HTTP\/1\.1 400 /);
      expect(text).toMatch(/application\/problem\+json[^]*"field":"Host"/);
    }
  });
  test('an unknown expectation: 417 with a problem document', async () => {
    const { text, closed } = await talk(get('/health/live', ['Host: a', 'Expect: miracles']));
    expect(text).toMatch(/^HTTP\/1\.1 417 [^]*application\/problem\+json/);
    expect(closed).toBe(true);
  });
  test('an id is taken as it is', async () => {
    const { body } = await fixture.call('POST', '/wallets', { body: { wallet_name: 'a' } });
    expect((await fixture.call('GET', `/wallets/${String(body['wallet_id'])}`)).status).toBe(200);
    expectProblem(await fixture.call('GET', `/wallets/%20${String(body['wallet_id'])}`), 404, 'not_found');
    expectProblem(await fixture.call('GET', '/wallets/%20'), 400, 'invalid_parameter', 'id');
  });
});

describe('a connection ends soon after an answer to a request that has not arrived', () => {
  const chunk = Buffer.alloc(1 << 20, 'x');
  test.each([
    ['401', post('/wallets', [`Content-Length: ${500 * chunk.length}`])],
    ['401 in chunks', post('/wallets', ['Transfer-Encoding: chunked'])],
  ])('%s: nothing is read on, and it is closed whatever its peer does', async (_, head) => {
    const size = Buffer.from(`${chunk.length.toString(16)}\r\n`);
    const more = head.includes('chunked') ? Buffer.concat([size, chunk, Buffer.from('\r\n')]) : chunk;
    const { text, closed, sent } = await talk(head, { more });
    expect(text).toMatch(/^HTTP\/1\.1 401 [^]*[Cc]onnection: close/);
    expect(closed).toBe(true);
    expect(sent).toBeLessThan(mostBytes);
  });

  test('413 too, with a token', async () => {
    const { text, closed, sent } = await talk(post('/wallets', [authorised(), `Content-Length: ${500 * chunk.length}`]), {
      more: chunk,
    });
    expect(text).toMatch(/^HTTP\/1\.1 413 [^]*[Cc]onnection: close/);
    expect(closed).toBe(true);
    expect(sent).toBeLessThan(mostBytes);
  });

  test('a short rest that never comes: closed too', async () => {
    const { text, closed } = await talk(post('/wallets', ['Content-Length: 100']));
    expect(text).toMatch(/^HTTP\/1\.1 401 /);
    expect(closed).toBe(true);
  });

  test('a short rest that comes: the connection is used again', async () => {
    const { text } = await talk(`${post('/wallets', ['Content-Length: 2'])}{}${get('/health/live')}`, { enough: /"ok"/ });
    expect(statusesIn(text)).toEqual([401, 200]);
  });
});

describe('many at a time', () => {
  test('requests that do not wait for answers: 16 of a connection, answered in order, then, after a second, 429 and the end', async () => {
    const slow = get('/api/v1/wallets', ['Host: a', authorised()]);
    const began = performance.now();
    const { text, closed } = await talk(slow.repeat(200));
    expect(performance.now() - began).toBeGreaterThan(950);
    expect(statusesIn(text)).toEqual([...Array.from({ length: 16 }, () => 200), 429]);
    expect(closed).toBe(true);
  });

  test('beyond these nothing is read on, and all answers arrive, also where they are read late', async () => {
    const app = new Koa<GatewayState>();
    app.use(async (ctx) => {
      await delay(20);
      ctx.body = 'x'.repeat(20_000);
    });
    const server = await listen(app, '127.0.0.1', 0);
    try {
      const long = Buffer.from(get('/', ['Host: a', `X: ${'x'.repeat(15_000)}`]).repeat(200));
      const { text, closed, sent } = await talk(long, { more: long, readAfterMs: 1_000, port: server.port });
      expect(statusesIn(text)).toEqual([...Array.from({ length: 16 }, () => 200), 429]);
      expect(closed).toBe(true);
      expect(sent).toBeLessThan(mostBytes);
    } finally {
      await server.close();
    }
  });

  test('of requests that do not wait for answers two at a time are worked on, over all connections', async () => {
    const app = new Koa<GatewayState>();
    const runningAt: number[] = [];
    let running = 0;
    let all!: () => void;
    const eight = new Promise<void>((resolve) => (all = resolve));
    app.use(async (ctx) => {
      runningAt.push((running += 1));
      // none of the first ones ends before the last of them has begun
      if (runningAt.length === 8) all();
      await eight;
      await delay(30);
      running -= 1;
      ctx.body = 'x';
    });
    const server = await listen(app, '127.0.0.1', 0, { place: 10_000 });
    const sockets = Array.from({ length: 8 }, () => connect(server.port, '127.0.0.1').on('error', () => undefined));
    try {
      for (const socket of sockets) socket.write(get('/').repeat(4));
      for (const until = Date.now() + 5_000; runningAt.length < 32 && Date.now() < until;) await delay(10);
      // the first ones of all connections, and then the others
      expect(runningAt).toHaveLength(32);
      expect(Math.max(...runningAt.slice(0, 8))).toBe(8);
      expect(Math.max(...runningAt.slice(16))).toBeLessThanOrEqual(2);
    } finally {
      for (const socket of sockets) socket.destroy();
      await server.close();
    }
  });

  test('refusals of one address are answered by and by; what is well formed, and other addresses, do not wait', async () => {
    // its clock stands still: however long the requests take, the waits are those of requests at one moment
    const pace = new RefusalPace({ perSecond: 10, burst: 5 }, () => 0);
    const take = jest.spyOn(pace, 'take');
    const pacing = await createFixture({ shared: fixture, pace });
    try {
      const timed = async (address: string, query = '?nope=1') => {
        const began = performance.now();
        const { status } = await pacing.call('GET', `/wallets${query}`, { headers: { 'X-Forwarded-For': address } });
        return { status, ms: performance.now() - began };
      };
      const refused = await Promise.all(Array.from({ length: 15 }, () => timed('203.0.113.20')));
      expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([400]));
      expect(Math.max(...refused.map(({ ms }) => ms))).toBeGreaterThan(800);
      const [other, fine] = await Promise.all([timed('203.0.113.21'), timed('203.0.113.20', '')]);
      expect([other.status, fine.status]).toEqual([400, 200]);
      // of the last two one is refused, and has no wait
      const waits = Array.from({ length: 15 }, (_, n) => Math.max(0, n * 100 - 500));
      expect(take.mock.results.map(({ value }) => value as number)).toEqual([...waits, 0]);
    } finally {
      await pacing.close();
    }
  });

  test('health has a limit of its own, for each address, on all of its paths', async () => {
    const paths = ['/health/live', '/health/ready', '/api/v1/health/live', '/api/v1/health/ready'];
    const ask = async (path: string, address: string) => {
      const { status } = await fetch(`${fixture.origin}${path}`, { headers: { 'X-Forwarded-For': address } });
      return { path, status };
    };
    const answers = await Promise.all(Array.from({ length: 400 }, (_, i) => ask(paths[i % 4] as string, '203.0.113.9')));
    for (const path of paths) {
      const statuses = answers.filter((answer) => answer.path === path).map(({ status }) => status);
      expect([path, new Set(statuses).has(429)]).toEqual([path, true]);
      expect((await ask(path, '203.0.113.10')).status).toBe(200);
    }
  });

  test('10,000 silent connections do not keep a client out', async () => {
    // both ends are in this process, whose limit of open files nothing raises
    const count = Math.min(10_000, Math.floor(withinOpenFiles(40_000) / 2) - 256);
    const silent: Socket[] = [];
    try {
      while (silent.length < count) {
        const more = Array.from({ length: Math.min(500, count - silent.length) }, () =>
          connect(fixture.port, '127.0.0.1').on('error', () => undefined),
        );
        silent.push(...more);
        await Promise.all(more.map((socket) => new Promise((resolve) => socket.once('connect', resolve))));
      }
      const began = performance.now();
      expect((await fixture.call('GET', '/wallets')).status).toBe(200);
      expect(performance.now() - began).toBeLessThan(10_000);
    } finally {
      for (const socket of silent) socket.destroy();
    }
  });
});

test('the document is sent compressed, and not again to who has it', async () => {
  const response = await fetch(`${fixture.base}/openapi.json`, { headers: { 'Accept-Encoding': 'gzip' } });
  expect(response.headers.get('content-encoding')).toBe('gzip');
  const etag = response.headers.get('etag') ?? '';
  const document = await response.text();
  expect(document).toMatch(/^\{"openapi":"3\.1\.0"/);
  expect(Number(response.headers.get('content-length'))).toBeLessThan(document.length / 4);
  const again = await talk(get('/api/v1/openapi.json', ['Host: a', `If-None-Match: ${etag}`]), { enough: /\r\n\r\n$/ });
  expect(again.text).toMatch(/^HTTP\/1\.1 304 [^]*\r\n\r\n$/);
  const plain = await fetch(`${fixture.base}/openapi.json`, { headers: { 'Accept-Encoding': 'identity' } });
  expect(plain.headers.get('content-encoding')).toBeNull();
  expect((await plain.text()) === document).toBe(true);
});
