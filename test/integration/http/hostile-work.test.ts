import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { RefusalPace } from '../../../src/http/limits/refusal-pace';
import { ExecutedBlocks } from '../../executed-blocks';
import { type HostileKind, hostileRequests, requestHead, requestWithBody } from '../../hostile-requests';
import { createFixture, type Fixture } from './fixture';

/**
 * How much of the process one hostile request takes, in executed blocks of code, compared with an ordinary one: what `npm run bench -- hostile`
 * measures in milliseconds, whatever else the machine does.
 */

let fixture: Fixture;
let executed: ExecutedBlocks;
/** Blocks of a list of transactions, which the bench asks for beside them. */
let ordinary: number;
beforeAll(async () => {
  fixture = await createFixture();
  executed = new ExecutedBlocks();
  const list = requestHead(fixture.demo.token, 'GET', '/transactions?page_size=10');
  ordinary = await workOf(() => talk(list, { enough: answered }));
});
afterAll(async () => {
  executed?.stop();
  await fixture?.close();
});

const answered = /\r\n\r\n\{[^]*\}$/;

/** Sends this, and reads until `enough` or until the connection is closed, for `waitMs` at most. */
async function talk(request: string, { enough, waitMs = 8_000 }: { enough?: RegExp; waitMs?: number } = {}): Promise<string> {
  const socket = connect({ port: fixture.port, host: '127.0.0.1' }).on('error', () => undefined);
  let text = '';
  const isEnough = new Promise<void>((resolve) => {
    socket.on('data', (data) => {
      text += data.toString();
      if (enough?.test(text)) resolve();
    });
    socket.on('close', resolve);
  });
  socket.write(request);
  const timer = new AbortController();
  await Promise.race([isEnough, delay(waitMs, undefined, { signal: timer.signal }).catch(() => undefined)]);
  timer.abort();
  socket.destroy();
  return text;
}

/** The least of some times, after one that fills caches: what else the process does meanwhile is not counted. */
async function workOf(run: () => Promise<unknown>): Promise<number> {
  await run();
  const counts: number[] = [];
  for (let time = 0; time < 3; time += 1) counts.push(await executed.during(run));
  return Math.min(...counts);
}

const requestOf = (name: HostileKind['name']): string =>
  hostileRequests(fixture.demo.token).find((kind) => kind.name === name)?.request ?? '';
const refused = (status: number) => expect.stringMatching(new RegExp(`^HTTP/1\\.1 ${status} `)) as string;

describe('one request takes no more than some ordinary ones, and without its limit hundreds of times as much:', () => {
  test.each<[HostileKind['name'], string]>([
    ['query', 'thousands of query parameters'],
    ['list', 'thousands of items in a list'],
    ['levels', 'thousands of levels'],
    ['open_body', 'thousands of values where any JSON is answered'],
  ])('%s, %s', async (name) => {
    const request = requestOf(name);
    let answer = '';
    const blocks = await workOf(async () => (answer = await talk(request, { enough: answered })));
    expect(answer).toEqual(refused(400));
    expect(blocks / ordinary).toBeLessThan(40);
  });

  test('pipelined, of which 16 are worked on', async () => {
    const one = await workOf(() => talk(requestHead(fixture.demo.token, 'GET', '/wallets'), { enough: answered }));
    let answer = '';
    const blocks = await workOf(async () => (answer = await talk(requestOf('pipelined'))));
    expect(answer.match(/HTTP\/1\.1 200/g)).toHaveLength(16);
    expect(blocks / one).toBeLessThan(30);
  });

  test('no_body: what waits for its body takes nothing', async () => {
    const blocks = await workOf(() => talk(requestOf('no_body'), { waitMs: 500 }));
    expect(blocks / ordinary).toBeLessThan(2);
  });
});

describe('as much as the limits allow takes no more than two hundred ordinary requests:', () => {
  const values = (count: number) => Array.from({ length: count }, () => ({}));
  const withBody = (path: string, body: object) => () => requestWithBody(fixture.demo.token, path, JSON.stringify(body));

  test.each<[string, () => string]>([
    ['query parameters', () => requestHead(fixture.demo.token, 'GET', `/wallets?${'a&'.repeat(49)}a`)],
    // the body, its two fields, and so many items
    ['items', withBody('/webhooks', { url: 'https://a.example', events: values(1_996) })],
    ['values where any JSON is answered', withBody('/x402/verify', { x402Version: 2, paymentPayload: values(1_996) })],
  ])('%s', async (_, request) => {
    let answer = '';
    const blocks = await workOf(async () => (answer = await talk(request(), { enough: answered })));
    expect(answer).not.toMatch(/has more than/);
    expect(blocks / ordinary).toBeLessThan(200);
  });
});

test('fifty connections of all kinds take no more in a second than some hundred ordinary requests', async () => {
  const pacing = await createFixture({ shared: fixture, pace: new RefusalPace() });
  const child = spawn(process.execPath, [path.join(__dirname, '../../bench/hostile.mjs')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  try {
    const requests = hostileRequests(fixture.demo.token).map(({ request }) => request);
    child.stdin.write(`${JSON.stringify({ port: pacing.port, requests, loud: 50, silent: 0 })}\n`);
    const began = performance.now();
    const blocks = await executed.during(async () => {
      await once(child.stdout, 'data');
      await delay(3_000);
      expect((await pacing.call('GET', '/transactions?page_size=10')).status).toBe(200);
    });
    // a slow machine answers fewer of them in a second, and none more
    const seconds = (performance.now() - began) / 1_000;
    expect(blocks / ordinary).toBeLessThan(300 * (3 + seconds));
  } finally {
    child.stdin.end();
    await once(child, 'exit');
    await pacing.close();
  }
});
