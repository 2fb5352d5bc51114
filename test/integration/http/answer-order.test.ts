import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import Koa from 'koa';
import type { GatewayContext, GatewayState } from '../../../src/http/context';
import { readJson } from '../../../src/http/read-body';
import { listen, type RunningServer } from '../../../src/http/server';

/**
 * A client takes the first answer for that to its first request (RFC 9112, section 9.3.2): a refusal that overtakes the answer to a transfer
 * would be read as "not accepted", while the transfer goes on.
 */

const timeouts = { headers: 300, request: 1_000, bodyStart: 200, linger: 300, checkEvery: 50 };
/** Later than every time-out of a request that is not complete. */
const transferMs = 1_500;

let server: RunningServer;
let begun: string[] = [];
/** An answer of which the rest does not come. */
function begin(response: ServerResponse): void {
  response.writeHead(200, { 'Content-Length': 100 });
  response.write('begun');
}
/** Later than the time for a body. */
async function readLate(ctx: GatewayContext): Promise<void> {
  await delay(400);
  await readJson(ctx);
  begun.push('read');
}
beforeAll(async () => {
  const app = new Koa<GatewayState>();
  app.silent = true;
  app.use(async (ctx) => {
    begun.push(ctx.path);
    if (ctx.path === '/early') return void (ctx.status = 401);
    if (ctx.path === '/begun') return void begin(ctx.res);
    if (ctx.path === '/late') return void (await readLate(ctx as GatewayContext));
    for await (const chunk of ctx.req) void chunk;
    if (ctx.path === '/transfer') await delay(transferMs);
    ctx.status = 202;
    ctx.body = 'accepted';
  });
  server = await listen(app, '127.0.0.1', 0, timeouts);
});
beforeEach(() => void (begun = []));
afterAll(() => server.close());

/** Sends each part, then waits until the server closes the connection: it never closes its own half. */
async function exchange(...parts: string[]): Promise<string> {
  const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
  let text = '';
  socket.on('data', (data) => (text += data.toString())).on('error', () => undefined);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  for (const part of parts) {
    socket.write(part);
    await delay(50);
  }
  // the server may have closed its half only: what is sent to a connection that it has destroyed is answered with a reset
  const knocking = setInterval(() => void (socket.readableEnded && socket.write('x')), 50);
  await Promise.race([closed, delay(9_000, undefined, { ref: false })]);
  clearInterval(knocking);
  socket.destroy();
  return text;
}

const request = (path: string, ...headers: string[]) =>
  `POST ${path} HTTP/1.1\r\n${['Host: a', ...headers].join('\r\n')}\r\n\r\n`;
const transfer = request('/transfer', 'Content-Length: 2') + '{}';
const statusesIn = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));

const refusals: [what: string, after: string[], status: number][] = [
  ['an unknown expectation', [request('/next', 'Expect: miracles')], 417],
  ['an unknown expectation with a body', [request('/next', 'Expect: miracles', 'Content-Length: 5') + '12345'], 417],
  ['no HTTP', ['nonsense\r\n\r\n'], 400],
  ['no HTTP, and more of it', ['nonsense\r\n\r\n', 'nonsense\r\n\r\n', request('/next')], 400],
  ['a broken body', [`${request('/next', 'Transfer-Encoding: chunked')}zz\r\n`], 400],
  ['headers that are too long', [request('/next', `X: ${'x'.repeat(20_000)}`)], 431],
  ['headers that do not end', ['POST /next HTTP/1.1\r\nHost: a\r\n'], 408],
  ['a body that does not come', [request('/next', 'Content-Length: 100')], 408],
  ['a body that does not end', [`${request('/next', 'Content-Length: 100')}{`], 408],
];

test.each(refusals)('%s after a transfer: its answer comes first, then the connection is closed', async (_, after, status) => {
  const [together, oneByOne] = await Promise.all([exchange(transfer + after.join('')), exchange(transfer, ...after)]);
  expect([together, oneByOne].map(statusesIn)).toEqual([
    [202, status],
    [202, status],
  ]);
  expect(begun).toEqual(['/transfer', '/transfer']);
});

test.each(refusals)('%s first: it is answered, and nothing after it is begun', async (_, parts, status) => {
  const text = await exchange(...parts);
  expect(statusesIn(text)).toEqual([status]);
  expect(text).toMatch(/[Cc]onnection: close[^]*"status":\d{3}/);
});

describe('a request is answered once', () => {
  const incomplete = (path: string) => `${request(path, 'Content-Type: application/json', 'Content-Length: 20')}{`;
  const chunked = request('/early', 'Transfer-Encoding: chunked');

  test.each<[what: string, parts: string[], statuses: number[]]>([
    ['a body that does not come', [request('/early', 'Content-Length: 20')], [401]],
    ['a body that does not end', [incomplete('/early')], [401]],
    ['a body that breaks', [chunked, 'zz\r\n'], [401]],
    ['a body that does not end, behind a transfer', [transfer + incomplete('/early')], [202, 408]],
    ['a body that does not end, behind a request', [request('/quick') + incomplete('/early')], [202, 401]],
    ['a body that breaks, behind a request', [request('/quick') + chunked, 'zz\r\n'], [202, 401]],
    ['a body that does not end, while its answer is sent', [incomplete('/begun')], [200]],
  ])('early, with %s: then the connection is closed', async (_, parts, statuses) => {
    expect(statusesIn(await exchange(...parts))).toEqual(statuses);
  });

  test('after it, nothing of the connection is begun', async () => {
    // when its time is over, and before the connection is closed
    const [wait, rest] = [['', '', '', ''], `${'x'.repeat(19)}${transfer}`];
    expect(statusesIn(await exchange(incomplete('/early'), ...wait, rest))).toEqual([401]);
    expect(begun).toEqual(['/early']);
  });

  test('with 408: what arrives after all is not worked on', async () => {
    const late = request('/late', 'Content-Type: application/json', 'Content-Length: 2');
    expect(statusesIn(await exchange(late, '', '', '', '', `{}${transfer}`))).toEqual([408]);
    // when it is read
    await delay(600);
    expect(begun).toEqual(['/late']);
  });
});
