import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import Koa from 'koa';
import type { GatewayContext, GatewayState } from '../../../src/http/context';
import { withinOpenFiles } from '../../../src/http/open-connections';
import { readJson } from '../../../src/http/read-body';
import { listen, type RunningServer } from '../../../src/http/server';

/** The server's time-outs, shortened: they limit what a slow or silent client can occupy. */
const timeouts = { headers: 400, request: 800, bodyStart: 300, linger: 300, keepAlive: 300, exchange: 4_000, checkEvery: 50 };
/** Sooner than by the usual time-outs, which begin at 10 s, and late enough for a busy machine. */
const soonMs = 9_000;
/** Later than the time for a short body. */
const lateMs = 700;
/** More than fits into the buffers of both sides. */
const large = Buffer.alloc(30_000_000, 'x');

let server: RunningServer;
/** Whose limit of a whole request is out of reach. */
let patient: RunningServer;
let largeAnswers = 0;
beforeAll(async () => {
  const app = new Koa<GatewayState>();
  app.silent = true;
  app.use(async (ctx) => {
    if (ctx.path === '/late') await delay(lateMs);
    if (ctx.method === 'POST') for await (const chunk of ctx.req) void chunk;
    if (ctx.path === '/large') largeAnswers += 1;
    ctx.body = ctx.path === '/large' ? large : 'ok';
  });
  server = await listen(app, '127.0.0.1', 0, timeouts);
  patient = await listen(app, '127.0.0.1', 0, { ...timeouts, request: 60_000 });
});
afterAll(() => Promise.all([server.close(), patient.close()]));

interface Seen {
  text: string;
  /** Until the server closed the connection. */
  ms: number;
}

interface TalkOptions {
  /** Sent every 100 ms; a function says what, from 1 on. */
  drip?: string | ((sent: number) => string);
  reads?: boolean;
  /** Does not close its side when the server does. */
  halfOpen?: boolean;
  to?: RunningServer;
}

/** Sends this and then `drip`, until the server has closed the connection. */
function talk(first: string, { drip = '', reads = true, halfOpen = false, to = server }: TalkOptions = {}): Promise<Seen> {
  const begun = Date.now();
  return new Promise((resolve) => {
    let text = '';
    let sent = 0;
    const socket: Socket = connect({ port: to.port, host: '127.0.0.1', allowHalfOpen: halfOpen }, () => socket.write(first));
    const timer = setInterval(() => {
      const next = typeof drip === 'string' ? drip : drip((sent += 1));
      if (next) socket.write(next);
    }, 100);
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
  expect(ms).toBeLessThan(soonMs);
});

test('no data at all: closed', async () => {
  expect((await talk('')).ms).toBeLessThan(soonMs);
});

test('a body sent byte by byte: 408, the sooner the shorter it is', async () => {
  const body = (headers: string) => talk(`POST / HTTP/1.1\r\nHost: a\r\n${headers}\r\n\r\n`, { drip: 'x' });
  const [short, long] = await Promise.all([body('Content-Length: 100'), body('Content-Length: 10000')]);
  for (const [{ text, ms }, timeout] of [[short, timeouts.bodyStart + 100] as const, [long, timeouts.request] as const]) {
    expect(text).toMatch(/^HTTP\/1\.1 408 /);
    expect(ms).toBeGreaterThanOrEqual(timeout - 100);
    // the usual time-out of a short body is 5 s
    expect(ms).toBeLessThan(timeout + 4_000);
  }
});

const chunked = (headers = '') => `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n${headers}\r\n`;
const chunkOf = (bytes: number) => `${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`;

test('a body in chunks that arrives slowly: 408 as soon as a short one of a known length', async () => {
  const { text, ms } = await talk(chunked(), { drip: chunkOf(1), to: patient });
  expect(text).toMatch(/^HTTP\/1\.1 408 /);
  expect(ms).toBeGreaterThanOrEqual(timeouts.bodyStart - 100);
  // not by the limit of the whole request
  expect(ms).toBeLessThan(30_000);
});

test('a body in chunks that arrives fast enough may take longer, up to the limit of a whole request', async () => {
  // the first chunk alone is good for 5 s
  const tenth = (sent: number) => (sent === 10 ? '0\r\n\r\n' : '');
  const [ending, endless] = await Promise.all([
    talk(chunked('Connection: close\r\n'), { drip: (sent) => (sent < 10 ? chunkOf(5_000) : tenth(sent)), to: patient }),
    talk(chunked(), { drip: chunkOf(5_000) }),
  ]);
  expect(ending.text).toMatch(/^HTTP\/1\.1 200 /);
  expect(ending.ms).toBeGreaterThan(timeouts.bodyStart + 300);
  expect(endless.text).toMatch(/^HTTP\/1\.1 408 /);
  expect(endless.ms).toBeLessThan(soonMs);
});

describe('a body that is read late', () => {
  const begun = 'POST /late HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nx';
  test('408 soon after it is read, if the rest does not come', async () => {
    const { text, ms } = await talk(begun, { to: patient, halfOpen: true, drip: 'x' });
    expect(text).toMatch(/^HTTP\/1\.1 408 /);
    expect(ms).toBeGreaterThanOrEqual(lateMs);
    // not by the limit of the whole request
    expect(ms).toBeLessThan(30_000);
  });
  test('its time begins again: who was not read is not slow', async () => {
    const drip = (sent: number) => (sent === Math.ceil(lateMs / 100) + 1 ? 'x'.repeat(999) : '');
    expect((await talk(begun, { to: patient, drip })).text).toMatch(/^HTTP\/1\.1 200 /);
  });
});

test.each(['identity', 'gzip', 'br'])('a body that breaks off (%s): what reads it ends', async (encoding) => {
  const seen = { begun: false, ended: false };
  const app = new Koa<GatewayState>();
  app.silent = true;
  app.use(async (ctx) => {
    seen.begun = true;
    await readJson(ctx as GatewayContext).catch(() => undefined);
    seen.ended = true;
  });
  const reading = await listen(app, '127.0.0.1', 0);
  const socket = connect(reading.port, '127.0.0.1').on('error', () => undefined);
  const becomes = async (what: keyof typeof seen) => {
    for (const end = Date.now() + soonMs; !seen[what] && Date.now() < end;) await delay(10);
    return seen[what];
  };
  try {
    const headers = `Content-Type: application/json\r\nContent-Encoding: ${encoding}\r\nContent-Length: 1000`;
    socket.write(`POST / HTTP/1.1\r\nHost: a\r\n${headers}\r\n\r\n`);
    expect(await becomes('begun')).toBe(true);
    socket.destroy();
    expect(await becomes('ended')).toBe(true);
  } finally {
    await reading.close();
  }
});

test.each([
  ['headers', 'GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ', 'x'],
  ['a body', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n', 'x'],
  ['a body in chunks', chunked(), chunkOf(1)],
])(
  '%s sent byte by byte, by a peer that neither closes its side nor stops sending: closed soon after the 408',
  async (_, first, drip) => {
    const { text, ms } = await talk(first, { drip, halfOpen: true });
    expect(text).toMatch(/^HTTP\/1\.1 408 /);
    expect(ms).toBeLessThan(soonMs);
  },
);

test('an idle connection: closed', async () => {
  const { text, ms } = await talk('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  expect(text).toMatch(/^HTTP\/1\.1 200 /);
  expect(ms).toBeLessThan(soonMs);
});

test('a response that is never read: closed', async () => {
  const { ms } = await talk('GET /large HTTP/1.1\r\nHost: a\r\n\r\n', { reads: false, drip: '\r\n' });
  expect(ms).toBeGreaterThanOrEqual(timeouts.exchange - 100);
  expect(ms).toBeLessThan(soonMs);
});

test('of responses that are never read one is built, however many are asked for', async () => {
  const before = largeAnswers;
  await talk('GET /large HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(10), { reads: false, drip: '\r\n' });
  expect(largeAnswers - before).toBe(1);
});

test('a client that reads gets the whole response', async () => {
  const answer = await fetch(`http://127.0.0.1:${server.port}/large`);
  expect((await answer.arrayBuffer()).byteLength).toBe(large.length);
});

describe('many connections and requests', () => {
  const most = 40;
  let small: RunningServer;
  /** Of requests that wait for their answer. */
  let answers: (() => void)[] = [];
  const answerAll = () => {
    for (const answer of answers) answer();
    answers = [];
  };
  beforeAll(async () => {
    const app = new Koa<GatewayState>();
    app.silent = true;
    app.use(async (ctx) => {
      if (ctx.path === '/slow') await new Promise<void>((resolve) => answers.push(resolve));
      ctx.body = 'ok';
    });
    small = await listen(app, '127.0.0.1', 0, { connections: most });
  });
  afterAll(() => small.close());

  interface Client {
    socket: Socket;
    closed: boolean;
    text: string;
  }
  const open = async (first = ''): Promise<Client> => {
    const socket = connect(small.port, '127.0.0.1');
    const client: Client = { socket, closed: false, text: '' };
    socket.on('data', (data) => (client.text += data.toString()));
    socket.on('error', () => undefined);
    socket.on('close', () => (client.closed = true));
    await new Promise((resolve) => socket.once('connect', resolve));
    socket.write(first);
    return client;
  };
  const until = async (isSo: () => boolean) => {
    for (const end = Date.now() + 20_000; !isSo() && Date.now() < end;) await new Promise((resolve) => setTimeout(resolve, 10));
  };
  const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

  test('a new one takes the place of the one that is silent for longest; one with a request is kept', async () => {
    const busy = await open(request('/slow'));
    const idle = await open(request('/'));
    await until(() => idle.text.includes('ok'));
    const silent: Client[] = [];
    for (let count = 0; count < most - 2; count += 1)
      silent.push(await open(count % 2 === 0 ? '' : 'GET / HTTP/1.1\r\nX-Slow: '));
    const late = [await open(request('/')), await open(request('/')), await open(request('/'))];
    await until(() => late.every(({ text }) => text.includes('ok')));
    expect(late.map(({ text }) => text.slice(0, 12))).toEqual(Array.from({ length: 3 }, () => 'HTTP/1.1 200'));
    // the one that was used before the others came, then the first of them
    await until(() => [idle, ...silent.slice(0, 2)].every(({ closed }) => closed));
    expect([idle, ...silent].map(({ closed }) => closed)).toEqual([
      true,
      true,
      true,
      ...Array.from({ length: most - 4 }, () => false),
    ]);
    expect(busy.closed).toBe(false);
    answerAll();
    await until(() => busy.text.includes('ok'));
    expect(busy.text).toMatch(/^HTTP\/1\.1 200 /);
    for (const { socket } of [busy, ...silent, ...late]) socket.destroy();
  });

  test('requests that do not wait for answers are worked on one at a time, those of other connections beside them', async () => {
    const [impatient, other] = [await open(request('/slow').repeat(3)), await open(request('/slow'))];
    const waiting: number[] = [];
    for (const expected of [2, 1, 1, 0]) {
      await until(() => answers.length === expected);
      // others would have come meanwhile
      await new Promise((resolve) => setTimeout(resolve, 50));
      waiting.push(answers.length);
      answerAll();
    }
    expect(waiting).toEqual([2, 1, 1, 0]);
    await until(() => other.text.includes('ok'));
    expect([impatient, other].map(({ text }) => text.split('HTTP/1.1 200').length - 1)).toEqual([3, 1]);
    for (const { socket } of [impatient, other]) socket.destroy();
  });

  test('of a connection that is gone, nothing is left of the requests that did not wait for answers', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const before = timers();
    for (let count = 0; count < 10; count += 1) {
      const { socket } = await open(request('/slow').repeat(16));
      await until(() => answers.length === count + 1);
      socket.resetAndDestroy();
    }
    await until(() => timers() < before + 10);
    // each request has one until it is answered
    expect(timers()).toBeLessThan(before + 10);
    answerAll();
  });

  test('while all have requests, a new one is closed', async () => {
    const busy: Client[] = [];
    for (let count = 0; count < most; count += 1) busy.push(await open(request('/slow')));
    await until(() => answers.length === most);
    const late = await open(request('/'));
    await until(() => late.closed);
    expect([late.closed, late.text]).toEqual([true, '']);
    expect(busy.some(({ closed }) => closed)).toBe(false);
    answerAll();
    for (const { socket } of busy) socket.destroy();
  });
});

test.each([
  ['20000                20000', 20_000, 19_744],
  ['1024                 524288', 20_000, 768],
  ['unlimited            unlimited', 20_000, 20_000],
  ['1048576              1048576', 20_000, 20_000],
])('of the limit of open files %s, %i connections are %i', (limit, connections, allowed) => {
  const limits = `Limit                     Soft Limit           Hard Limit           Units\nMax open files            ${limit}                files\n`;
  expect(withinOpenFiles(connections, limits)).toBe(allowed);
});
