import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import Koa from 'koa';
import type { GatewayContext, GatewayState } from '../../../src/http/context';
import { readJson } from '../../../src/http/read-body';
import { listen, type RunningServer } from '../../../src/http/server';

/**
 * Connections that are gone before, while or after the body of their request is read: the request ends, and nothing is thrown that nobody
 * handles, which would end the process (and fails the test that runs).
 */

const settleMs = 9_000;
/** A body is read that late: after authentication and quota. */
type Moment = 'before it is read' | 'after it is read';

let server: RunningServer;
const inFlight = new Set<string>();
const outcomes = new Map<string, string>();
beforeAll(async () => {
  const app = new Koa<GatewayState>();
  app.silent = true;
  app.use(async (ctx) => {
    const name = ctx.path;
    const gone = new Promise<void>((resolve) => ctx.res.once('close', resolve));
    inFlight.add(name);
    // of a connection whose buffers are full nothing is read meanwhile, not even its end
    if (ctx.get('X-Read') === 'late') await Promise.race([gone, delay(1_000)]);
    outcomes.set(
      name,
      await readJson(ctx as GatewayContext).then(
        (value) => JSON.stringify(value),
        (error: Error) => error.message,
      ),
    );
    // a delayed answer
    await gone;
    inFlight.delete(name);
  });
  server = await listen(app, '127.0.0.1', 0);
});
beforeEach(() => outcomes.clear());
afterAll(() => server.close());

async function until(holds: () => boolean): Promise<void> {
  for (const end = Date.now() + settleMs; !holds() && Date.now() < end;) await delay(5);
}

const encoders: Record<string, (bytes: Buffer) => Buffer> = {
  identity: (bytes) => bytes,
  gzip: (bytes) => gzipSync(bytes),
  deflate: (bytes) => deflateSync(bytes),
  br: (bytes) => brotliCompressSync(bytes),
};
const json = Buffer.from(JSON.stringify({ wallet_name: 'a name' }));
const large = Buffer.alloc(3_000_000, ' ');
const garbage = Buffer.from('this is neither JSON nor compressed');

/** @returns what is sent, and how many more bytes are announced */
const bodies: Record<string, (encode: (bytes: Buffer) => Buffer) => [sent: Buffer, missing: number]> = {
  'of which nothing has come': () => [Buffer.alloc(0), 100],
  'of which a part has come': (encode) => [encode(json).subarray(0, 10), 100],
  'that is complete, with more announced': (encode) => [encode(json), 5_000],
  'that is complete': (encode) => [encode(json), 0],
  'that is too large, with more announced': (encode) => [encode(large).subarray(0, 150_000), 5_000],
  'that is too large': (encode) => [encode(large), 0],
  'that is not what it says, with more announced': () => [garbage, 5_000],
  'that is not what it says': () => [garbage, 0],
};

/** Sends this, and resets the connection at this moment. @returns what has become of the body */
async function breakOff(name: string, encoding: string, [sent, missing]: [Buffer, number], moment: Moment): Promise<void> {
  const socket = connect(server.port, '127.0.0.1').on('error', () => undefined);
  const headers = [
    'Host: a',
    'Content-Type: application/json',
    `Content-Encoding: ${encoding}`,
    `Content-Length: ${sent.length + missing}`,
    `X-Read: ${moment === 'before it is read' ? 'late' : 'soon'}`,
  ];
  socket.write(`POST ${name} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`);
  socket.write(sent);
  await until(() => inFlight.has(name));
  // some are read soon, others wait for what is missing
  for (const end = Date.now() + 200; !outcomes.has(name) && Date.now() < end;) await delay(5);
  socket.resetAndDestroy();
  await until(() => outcomes.has(name) && !inFlight.has(name));
  // what is thrown late is thrown within the test
  await delay(50);
}

describe.each<Moment>(['before it is read', 'after it is read'])('the connection is gone %s', (moment) => {
  test.each(Object.keys(bodies))('a body %s', async (kind) => {
    const encodings = Object.entries(encoders);
    await Promise.all(
      encodings.map(([encoding, encode]) =>
        breakOff(`/${encoding}`, encoding, (bodies[kind] as (typeof bodies)[string])(encode), moment),
      ),
    );
    expect([...inFlight]).toEqual([]);
    const isTaken = moment === 'after it is read' && kind === 'that is complete';
    for (const [encoding] of encodings)
      expect([encoding, outcomes.get(`/${encoding}`)]).toEqual([
        encoding,
        isTaken ? json.toString() : (expect.stringMatching(/^The body /) as string),
      ]);
  });
});
