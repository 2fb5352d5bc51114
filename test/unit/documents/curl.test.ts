import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { shellBlocks } from './shell-blocks';

/**
 * The code with curl of docs/integration.md, in front of a server whose token expires, and which is unavailable once. test/e2e/documents.test.ts
 * runs it with the gateway.
 */

const [block] = shellBlocks('docs/integration.md').filter(({ section }) => section === 'The same with curl');

interface Asked {
  request: string;
  token: string | undefined;
  key: string | undefined;
}

const folder = mkdtempSync(path.join(tmpdir(), 'curl-'));
const asked: Asked[] = [];
let server: Server;
let base: string;
beforeAll(async () => {
  const seen = new Map<string, number>();
  server = createServer(({ method = '', url = '', headers }, response) => {
    const request = `${method} ${url}`;
    const token = headers.authorization?.replace('Bearer ', '');
    const answer = (status: number, body: object, more: Record<string, string> = {}) =>
      response.writeHead(status, { 'content-type': 'application/json', ...more }).end(JSON.stringify(body));
    asked.push({ request, token, key: headers['idempotency-key'] as string | undefined });
    const times = (seen.get(`${request} ${token}`) ?? 0) + 1;
    seen.set(`${request} ${token}`, times);
    if (request === 'POST /auth/token') {
      const isKnown = headers['x-api-key'] === 'of-a-test' && headers['x-api-secret'] === 'hidden';
      answer(isKnown ? 200 : 401, { token: `token-${times}`, expires_in: 900 });
    } else if (token === 'refused') answer(409, { code: 'idempotency_in_progress' });
    else if (token === 'expired' || (token === 'token-1' && method === 'GET' && times > 1)) answer(401, { code: 'unauthorized' });
    else if (method === 'POST' && times === 1) answer(503, { code: 'unavailable' }, { 'retry-after': '1' });
    else if (method === 'POST') answer(202, { tx_id: 'tx-1' });
    else answer(200, { tx_id: 'tx-1', status: token === 'token-1' ? 'PENDING' : 'CONFIRMED' });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

const settings = () => ({
  ...{ PATH: process.env['PATH'] ?? '', BASE: base, KEY: 'of-a-test', SECRET: 'hidden', FROM: '0x01', TO: '0x02' },
});
const options = { cwd: folder, timeout: 60_000 };

test('what is refused is shown, and nothing that was answered before is taken for its answer', async () => {
  writeFileSync(path.join(folder, 'answer.json'), JSON.stringify({ tx_id: 'before', status: 'CONFIRMED' }));
  const env = { ...settings(), TOKEN: 'refused' };
  // not all shells end at the first command that fails
  const { stdout } = await promisify(execFile)('bash', ['-c', block?.code ?? 'false'], { ...options, env });
  expect(JSON.parse(stdout)).toEqual({ code: 'idempotency_in_progress' });
  expect(asked.splice(0).map(({ request }) => request)).toEqual(['POST /transfer']);
}, 90_000);

test('gets another token after a 401, repeats under the same key, and waits for the end', async () => {
  const env = { ...settings(), TOKEN: 'expired' };
  const strict = ['-euo', 'pipefail', '-c', block?.code ?? 'false'];
  const { stdout } = await promisify(execFile)('bash', strict, { ...options, env });
  expect(JSON.parse(stdout)).toEqual({ tx_id: 'tx-1', status: 'CONFIRMED' });
  expect(asked.map(({ request, token }) => [request, token])).toEqual([
    ['POST /transfer', 'expired'],
    ['POST /auth/token', undefined],
    ['POST /transfer', 'token-1'],
    ['POST /transfer', 'token-1'],
    ['GET /transactions/tx-1', 'token-1'],
    ['GET /transactions/tx-1', 'token-1'],
    ['POST /auth/token', undefined],
    ['GET /transactions/tx-1', 'token-2'],
  ]);
  expect(asked.filter(({ request }) => request === 'POST /transfer').map(({ key }) => key)).toEqual([
    'order-17',
    'order-17',
    'order-17',
  ]);
}, 90_000);
