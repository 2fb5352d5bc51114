import { connect, type Socket } from 'node:net';
import Koa from 'koa';
import type { GatewayState } from '../../../src/http/context';
import { listen, type RunningServer } from '../../../src/http/server';

/** The server's time-outs, shortened: they limit what a slow or silent client can occupy. */
const timeouts = { headers: 400, request: 800, bodyStart: 300, linger: 300, keepAlive: 300, exchange: 4_000, checkEvery: 50 };
/** More than fits into the buffers of both sides. */
const large = Buffer.alloc(30_000_000, 'x');

let server: RunningServer;
beforeAll(async () => {
  const app = new Koa<GatewayState>();
  app.silent = true;
  app.use(async (ctx) => {
    if (ctx.method === 'POST') for await (const chunk of ctx.req) void chunk;
    ctx.body = ctx.path === '/large' ? large : 'ok';
  });
  server = await listen(app, '127.0.0.1', 0, timeouts);
});
afterAll(() => server.close());

interface Seen {
  text: string;
  /** Until the server closed the connection. */
  ms: number;
}

/** Sends this and then one byte of `drip` every 100 ms. */
function talk(first: string, { drip = '', reads = true } = {}): Promise<Seen> {
  const begun = Date.now();
  return new Promise((resolve) => {
    let text = '';
    const socket: Socket = connect(server.port, '127.0.0.1', () => socket.write(first));
    const timer = setInterval(() => drip && socket.write(drip), 100);
    // a client that does not read notices the end when it writes again
    if (reads) socket.on('data', (data) => (text += data.toString().slice(0, 400)));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearInterval(timer);
      resolve({ text, ms: Date.now() - begun });
    });
    if (!reads) socket.pause();
  });
}

test('headers sent byte by byte: 408', async () => {
  const { text, ms } = await talk('GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ', { drip: 'x' });
  expect(text).toMatch(/^HTTP\/1\.1 408 /);
  expect(text).toContain('Connection: close');
  expect(ms).toBeGreaterThanOrEqual(timeouts.headers - 100);
  expect(ms).toBeLessThan(timeouts.headers + 1_000);
});

test('no data at all: closed', async () => {
  expect((await talk('')).ms).toBeLessThan(timeouts.headers + 1_000);
});

test('a body sent byte by byte: 408, the sooner the shorter it is', async () => {
  const body = (headers: string) => talk(`POST / HTTP/1.1\r\nHost: a\r\n${headers}\r\n\r\n`, { drip: 'x' });
  const [short, long] = await Promise.all([body('Content-Length: 100'), body('Content-Length: 10000')]);
  for (const [{ text, ms }, timeout] of [[short, timeouts.bodyStart + 100] as const, [long, timeouts.request] as const]) {
    expect(text).toMatch(/^HTTP\/1\.1 408 /);
    expect(ms).toBeGreaterThanOrEqual(timeout - 100);
    expect(ms).toBeLessThan(timeout + 1_000);
  }
});

test('an idle connection: closed', async () => {
  const { text, ms } = await talk('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  expect(text).toMatch(/^HTTP\/1\.1 200 /);
  // Node adds up to a second, so that it does not close a connection that the client has just used
  expect(ms).toBeLessThan(timeouts.keepAlive + 2_500);
});

test('a response that is never read: closed', async () => {
  const { ms } = await talk('GET /large HTTP/1.1\r\nHost: a\r\n\r\n', { reads: false, drip: '\r\n' });
  expect(ms).toBeGreaterThanOrEqual(timeouts.exchange - 100);
  expect(ms).toBeLessThan(timeouts.exchange + 1_500);
});

test('a client that reads gets the whole response', async () => {
  const answer = await fetch(`http://127.0.0.1:${server.port}/large`);
  expect((await answer.arrayBuffer()).byteLength).toBe(large.length);
});
