import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import Koa from 'koa';
import { endEarlyAnswered } from '../../../src/http/connections';
import type { GatewayContext, GatewayState } from '../../../src/http/context';
import { RefusalPace } from '../../../src/http/limits/refusal-pace';
import { readJson } from '../../../src/http/read-body';
import { listen, type RunningServer } from '../../../src/http/server';

/** What is sent slowly, or too much of, on the loopback interface. */

let server: RunningServer;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server.close();
});

const open = (): { socket: Socket; text: () => string } => {
  let text = '';
  const socket = connect({ port: server.port, host: '127.0.0.1' }).on('error', () => undefined);
  socket.on('data', (data) => (text += data.toString()));
  sockets.push(socket);
  return { socket, text: () => text };
};
const until = async (holds: () => boolean, ms = 5_000): Promise<void> => {
  for (const end = Date.now() + ms; !holds() && Date.now() < end;) await delay(10);
};

test('while the answer to a body that is too large is delayed, nothing of the rest is read', async () => {
  const app = new Koa<GatewayState>();
  const pace = new RefusalPace({ perSecond: 1, burst: 0 });
  app.use(pace.middleware as never).use(endEarlyAnswered as never);
  app.use(async (ctx) => {
    const isRead = await readJson(ctx as GatewayContext).then(
      () => true,
      () => false,
    );
    ctx.status = isRead ? 200 : 413;
  });
  server = await listen(app, '127.0.0.1', 0);
  const bytes = 1 << 20;
  const chunk = Buffer.concat([Buffer.from(`${bytes.toString(16)}\r\n`), Buffer.alloc(bytes, 'x'), Buffer.from('\r\n')]);
  const head = ['POST / HTTP/1.1', 'Host: a', 'Content-Type: application/json', 'Transfer-Encoding: chunked', '', ''].join(
    '\r\n',
  );
  const sent: number[] = [];
  // the first one is answered at once
  for (let count = 0; count < 3; count += 1) {
    const { socket, text } = open();
    socket.write(head);
    const began = performance.now();
    while (text() === '' && performance.now() - began < 5_000) {
      if (socket.writableLength === 0) socket.write(chunk);
      await delay(2);
    }
    expect(text()).toMatch(/^HTTP\/1\.1 413 [^]*[Cc]onnection: close/);
    sent.push(socket.bytesWritten - socket.writableLength);
  }
  // what the buffers of the operating system hold
  expect(Math.max(...sent)).toBeLessThan(20 * bytes);
});

test('a short rest is read after the delay, and the connection is used again', async () => {
  const app = new Koa<GatewayState>();
  const pace = new RefusalPace({ perSecond: 2, burst: 0 });
  app.use(pace.middleware as never).use(endEarlyAnswered as never);
  app.use((ctx) => {
    if (ctx.method === 'POST') ctx.req.resume();
    ctx.status = ctx.method === 'POST' ? 400 : 200;
  });
  server = await listen(app, '127.0.0.1', 0);
  const { socket, text } = open();
  const post = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n';
  socket.write(post + 'x'.repeat(100_000) + post);
  await until(() => text().includes('400'));
  await delay(100);
  socket.write(`${'x'.repeat(100_000)}GET / HTTP/1.1\r\nHost: a\r\n\r\n`);
  await until(() => text().includes('200'));
  expect([...text().matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status)).toEqual(['400', '400', '200']);
});

test('what is answered late keeps those of other connections waiting only for a moment, who have not waited for an answer either', async () => {
  const app = new Koa<GatewayState>();
  app.use(async (ctx) => {
    if (ctx.method === 'POST') await delay(20_000, undefined, { ref: false });
    ctx.body = 'x';
  });
  server = await listen(app, '127.0.0.1', 0);
  const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
  for (let count = 0; count < 4; count += 1) open().socket.write(get + get.replace('GET', 'POST'));
  await delay(50);
  const { socket, text } = open();
  const began = performance.now();
  socket.write(get.repeat(4));
  await until(() => text().split('200 OK').length > 4, 15_000);
  expect(text().split('200 OK')).toHaveLength(5);
  expect(performance.now() - began).toBeLessThan(15_000);
});
