import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { PrivateKeyAccount } from 'viem';
import { processIdentity } from '../../dev/processes';
import { type NodeIndex, nodeIndexes } from '../../src/messages/nodes';
import { environmentOf, ownPage } from '../adversary/processes';
import { newPayer, untilSettling } from '../e2e/payers';
import { ApiClient } from '../stack/api-client';
import { api, dataFolder, stack, waitFor } from '../stack/client';
import { pids } from '../stack/pause';
import { CarefulClient } from './careful-client';
import { createSenders, mostOpen, RestartLoad } from './restart-load';
import { Twin } from './twin';
import { allRun } from './victims';

/**
 * A restart of the same version without an interruption: each process ends by the signal of its operator and is started again, one at a time, two
 * of each but the nodes, of which two of three sign. Meanwhile clients transfer, read and settle: what they cannot cure by a retry fails the test.
 * It is no upgrade: no old process works beside a new one, and nothing is migrated.
 */

/** Milliseconds that a client waits for an answer at most, with its retries. A settlement alone is waited for up to 70 s (docs/x402.md). */
const longestWaitMs = (kind: string): number => (kind === 'POST /x402/settle' ? 80_000 : 20_000);
/** What a client sends again: no server, one that is just ending, and 503 of one that cannot do it now. */
const retriable = /^(ECONNREFUSED|ECONNRESET|EPIPE|UND_ERR_SOCKET|503 (unavailable|signers_unavailable))$/;
/** The same while Postgres is restarted: what was under way in it, and what comes before its orders have been compared. */
const retriableWithoutPostgres = /^(503 (unavailable|reconcile_required|outcome_unknown)|409 idempotency_in_progress)$/;

/** Seconds from the signal to SIGKILL: stop_grace_period in docker-compose.yml. */
const graceSeconds = { api: 60, worker: 45, authoriser: 30, mpc: 30, postgres: 60, temporal: 60 } as const;
type Part = keyof typeof graceSeconds;

const twins = { api: new Twin('api'), worker: new Twin('worker'), authoriser: new Twin('authoriser') };
const payers: PrivateKeyAccount[] = [];
let senders: Awaited<ReturnType<typeof createSenders>>;
let servers: ApiClient[];

beforeAll(async () => {
  await Promise.all(Object.values(twins).map((twin) => twin.start()));
  servers = [api(), new ApiClient(twins.api.baseUrl, api().credentials)];
  [senders] = await Promise.all([createSenders(), untilSettling()]);
  for (let count = 0; count < 4; count += 1) payers.push(await newPayer());
});
afterAll(async () => {
  await Promise.all(Object.values(twins).map((twin) => twin.kill()));
}, 60_000);

interface Restart {
  process: string;
  code: number | null;
  seconds: number;
}

let restarts: Restart[];
let client: CarefulClient;
let load: RestartLoad;
beforeEach(async () => {
  restarts = [];
  // tokens that are valid for longer than a test
  for (const server of servers) server.forgetToken();
  await Promise.all(servers.map((server) => server.accessToken()));
  client = new CarefulClient(servers);
  load = new RestartLoad(client, senders, payers);
});

/** The exit code of a process of the stack, which its supervisor alone learns. */
async function exitCodeOf(pid: number): Promise<number | null> {
  const end = await waitFor(
    () =>
      new RegExp(`\\(pid ${pid}\\) (.*?): starting it again`).exec(
        readFileSync(path.join(dataFolder(), 'logs', 'supervisor.log'), 'utf8'),
      ),
    { timeoutMs: 90_000, intervalMs: 50 },
  );
  const code = /exit code (\d+)/.exec(end[1] ?? '')?.[1];
  return code === undefined ? null : Number(code);
}

/** Resolves when the supervisor has started another one in its place. */
async function endOwn(part: Part, signal: NodeJS.Signals, position = 0, name: string = part): Promise<void> {
  const pid = pids(part)[position] ?? 0;
  const since = Date.now();
  process.kill(pid, signal);
  const code = await exitCodeOf(pid);
  restarts.push({ process: name, code, seconds: (Date.now() - since) / 1_000 });
  await waitFor(() => stack().processes[part]?.[position] !== pid, { timeoutMs: 60_000, intervalMs: 50 });
}

async function restartOwn(part: keyof typeof twins | 'mpc', position: number, name?: string): Promise<void> {
  const env = environmentOf(pids(part)[position] ?? 0);
  await endOwn(part, 'SIGTERM', position, name);
  await waitFor(async () => (await ownPage(env, '/health/ready')).ok, { timeoutMs: 180_000 });
}

async function restartTwin(part: keyof typeof twins): Promise<void> {
  const since = Date.now();
  const code = await twins[part].stop();
  restarts.push({ process: `second ${part}`, code, seconds: (Date.now() - since) / 1_000 });
  await twins[part].start();
}

/** What all processes of the gateway need, on the same data: until each of them is ready with it. */
async function restartServer(part: 'postgres' | 'temporal', signal: NodeJS.Signals): Promise<void> {
  await endOwn(part, signal);
  await allRun();
  for (const twin of Object.values(twins)) await waitFor(() => twin.isReady(), { timeoutMs: 180_000 });
}

/** Where the nodes are in stack.json. */
const positionOf = (node: NodeIndex): number =>
  pids('mpc').findIndex((pid) => Number(environmentOf(pid).MPC_NODE_INDEX) === node);

/** Of the gateway's processes; null for one that has ended. */
const identities = (): (string | null)[] =>
  [
    ...(['api', 'worker', 'authoriser', 'mpc'] as const).flatMap((part) => pids(part)),
    ...Object.values(twins).map((twin) => twin.pids.at(-1) ?? 0),
  ].map(processIdentity);

function expectOrderly(count: number): void {
  expect(restarts).toHaveLength(count);
  for (const { process: name, code, seconds } of restarts) {
    const part = name.replace('second ', '').split(' ')[0] as Part;
    expect({ name, code, inTime: seconds < graceSeconds[part] }).toEqual({ name, code: 0, inTime: true });
  }
}

test('every process is restarted under load: no request fails that a retry does not cure, and nothing is lost or done twice', async () => {
  await load.during(async () => {
    for (const part of ['api', 'worker', 'authoriser'] as const) {
      await load.more();
      await restartOwn(part, 0);
      await load.more();
      await restartTwin(part);
    }
    for (const node of nodeIndexes) {
      await load.more();
      await restartOwn('mpc', positionOf(node), `mpc ${node}`);
    }
    await load.more();
  });
  expect(Object.keys(client.retried).filter((reason) => !retriable.test(reason))).toEqual([]);
  // an API that is not there is noticed: its clients take the other one
  expect(Object.keys(client.retried)).not.toEqual([]);
  expect(Object.keys(client.longest).sort()).toEqual([
    ...['GET /assets', 'GET /transactions', 'GET /transactions/…', 'POST /transfer', 'POST /x402/settle'],
  ]);
  expect(Object.entries(client.longest).filter(([kind, ms]) => ms > longestWaitMs(kind))).toEqual([]);
  expectOrderly(9);
  // some of each that have begun after others had ended
  expect(Math.min(...load.counts.transfers)).toBeGreaterThan(mostOpen);
  expect(load.counts.settlements).toBeGreaterThan(payers.length);
  await load.expectCarriedOut();
}, 900_000);

test('Temporal and Postgres are restarted under the same load: no request notices the first, a retry cures what the second refuses, and no process ends', async () => {
  const before = identities();
  await load.during(async () => {
    await load.more();
    await restartServer('temporal', 'SIGTERM');
    await load.more();
    expect(client.retried).toEqual({});
    // its fast shutdown, by which its image is stopped too: what is open is rolled back
    await restartServer('postgres', 'SIGINT');
    await load.more();
  });
  expect(Object.keys(client.retried).filter((reason) => !retriableWithoutPostgres.test(reason))).toEqual([]);
  expect(Object.keys(client.retried)).toContain('503 unavailable');
  expectOrderly(2);
  expect(Math.min(...load.counts.transfers)).toBeGreaterThan(0);
  await load.expectCarriedOut();
  expect(before).not.toContain(null);
  expect(identities()).toEqual(before);
}, 900_000);
