import { spawn, spawnSync } from 'node:child_process';
import { createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { projectRoot } from '../../../dev/paths';
import { type HealthChecks, type HealthListener, startHealthListener } from '../../../src/platform/metrics';

/** The health check of a container, against the listener that every process has. */

let listener: HealthListener | undefined;
afterEach(async () => {
  await listener?.close();
  listener = undefined;
});

const script = path.join(projectRoot, 'scripts/healthy.cjs');

/** @returns exit code of the health check */
function check(port: number): Promise<number | null> {
  const env = { PATH: process.env.PATH, METRICS_PORT: String(port) };
  const child = spawn(process.execPath, [script], { env, stdio: 'ignore' });
  return new Promise((resolve, reject) => child.once('error', reject).once('exit', resolve));
}
async function checkOf(ready: () => Promise<HealthChecks>, decisive?: string[]): Promise<number | null> {
  listener = await startHealthListener({ process: 'api', host: '127.0.0.1', port: 0, ready, ...(decisive && { decisive }) });
  return check(listener.port);
}

it.each<[string, HealthChecks, number]>([
  ['all checks succeed, beside information', { database: true, temporal: true, build: 'none' }, 0],
  ['it is not ready', { database: false, temporal: true }, 1],
  ['it is ready, and another check fails', { database: true, chain_base: false }, 1],
])('%s', async (_what, checks, code) => expect(await checkOf(() => Promise.resolve(checks), ['database'])).toBe(code));

it('fails where the checks cannot be made', async () => {
  expect(await checkOf(() => Promise.reject(new Error('no checks')))).toBe(1);
});

it('fails where nothing listens', async () => {
  listener = await startHealthListener({ process: 'api', host: '127.0.0.1', port: 0, ready: () => Promise.resolve({}) });
  const { port } = listener;
  await listener.close();
  listener = undefined;
  expect(await check(port)).toBe(1);
});

it.each([{}, { METRICS_PORT: '' }])('fails without a port, and asks nobody: %j', (env) => {
  const { status, stderr } = spawnSync(process.execPath, [script], { env, encoding: 'utf8' });
  expect([status, stderr]).toEqual([1, 'METRICS_PORT is required\n']);
});

it('fails where a process takes connections and does not answer', async () => {
  const server = await new Promise<Server>((resolve) => {
    const silent: Server = createServer().listen(0, '127.0.0.1', () => resolve(silent));
  });
  try {
    expect(await check((server.address() as AddressInfo).port)).toBe(1);
  } finally {
    server.close();
  }
});
