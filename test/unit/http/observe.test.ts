import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Router from '@koa/router';
import Koa from 'koa';
import pino from 'pino';
import type { Middleware } from '../../../src/http/context';
import { observe } from '../../../src/http/observe';

/** The line that the API logs for each request. */

const txId = '0190b5a4-0000-7000-8000-0000000000f1';
const other = '0190b5a4-0000-7000-8000-0000000000f2';

let server: Server;
let answer: unknown;
let logged: (line: Record<string, unknown>) => void;
beforeAll(async () => {
  const log = pino({}, { write: (line: string) => logged(JSON.parse(line) as Record<string, unknown>) });
  const app = new Koa();
  const router = new Router();
  const respond: Middleware = (ctx) => {
    ctx.body = answer;
    return Promise.resolve();
  };
  router.get('/transactions/:tx_id', respond as Koa.Middleware);
  router.get('/other', respond as Koa.Middleware);
  app.use(observe(log, { trustTraceParent: false }) as Koa.Middleware);
  app.use(router.routes());
  server = createServer(app.callback() as never);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

async function lineOf(path: string, body: unknown): Promise<Record<string, unknown>> {
  answer = body;
  const line = new Promise<Record<string, unknown>>((resolve) => (logged = resolve));
  await (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`)).text();
  return line;
}

test.each<[string, string, unknown, string | undefined]>([
  ['in the path', `/transactions/${txId}`, {}, txId],
  ['in the path, whatever the answer names', `/transactions/${txId}`, { tx_id: other }, txId],
  ['that the answer names', '/other', { tx_id: txId, status: 'PENDING' }, txId],
  ['that an answer of x402 names', '/other', { success: true, txId }, txId],
  ['of a stored answer', '/other', JSON.stringify({ tx_id: txId }), txId],
  ['of a failure whose outcome is not known', '/other', JSON.stringify({ code: 'outcome_unknown', tx_id: txId }), txId],
  ['in no text of a client', '/other', JSON.stringify({ memo: JSON.stringify({ tx_id: txId }) }), undefined],
  ['in no list', '/other', { data: [{ tx_id: txId }] }, undefined],
  ['in no stored list', '/other', JSON.stringify({ results: [{ tx_id: txId }] }), undefined],
  ['in no stored list of another form', '/other', JSON.stringify([{ tx_id: txId }]), undefined],
  ['in no text that is not JSON', '/other', `"tx_id":"${txId}"`, undefined],
  ['in no long document', '/other', JSON.stringify({ tx_id: txId, text: 'x'.repeat(5_000) }), undefined],
  ['in no path without an id', '/transactions/none%0Aof%20these', {}, undefined],
])('a request has the id of the transaction %s', async (_where, path, body, expected) => {
  const line = await lineOf(path, body);
  expect({ msg: line.msg, tx_id: line.tx_id }).toEqual({ msg: 'request', tx_id: expected });
});
