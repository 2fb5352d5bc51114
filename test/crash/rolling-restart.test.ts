import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Address, PrivateKeyAccount } from 'viem';
import { parseUnits } from 'viem';
import { ApiClient } from '../stack/api-client';
import type { JsonObject } from '../../src/chains/types';
import { type NodeIndex, nodeIndexes } from '../../src/messages/nodes';
import { environmentOf, gatewayQuery, ownPage } from '../adversary/processes';
import { recordDifferences } from '../adversary/records';
import { ledgerDifferences } from '../e2e/ledger';
import { newPayer, untilSettling, usdcOf } from '../e2e/payers';
import { type Account, ends, fundedAccount, transactionWhen } from '../e2e/support';
import { randomAddress } from '../factories';
import { api, dataFolder, stack, waitFor } from '../stack/client';
import { signed } from '../x402';
import { CarefulClient } from './careful-client';
import { differingCounters } from './counters';
import { paid } from './held-payments';
import { settlementsTo } from './settlement-rows';
import { type Settled, undecided } from './settling';
import { expectBalanced, onChain } from './transfer';
import { Twin } from './twin';

/**
 * A restart of the same version without an interruption: each process ends by SIGTERM and is started again, one at a time, two of each but the
 * nodes, of which two of three sign. Meanwhile clients transfer, read and settle: what they cannot cure by a retry fails the test. It is no
 * upgrade: no old process works beside a new one, and nothing is migrated.
 */

const amount = '0.0001';
/** Between two restarts, beside what is under way: there has been work with all processes. */
const transfersBetween = 4;
const readPauseMs = 150;
const transferPauseMs = 400;
const settlePauseMs = 3_000;
const settleRetryMs = 500;
const settleForMs = 180_000;
/** No more than that, if restarts take long. */
const most = { transfers: 600, settlements: 40 };
/**
 * Transfers of a sender that have not ended. On a machine that is slow, or while the worker is away, more would wait in a line that is still there
 * when the last process has been restarted; and what is accepted between two restarts shows that earlier ones have ended.
 */
const mostOpen = 8;

/** Milliseconds that a client waits for an answer at most, with its retries. A settlement alone is waited for up to 70 s (docs/x402.md). */
const longestWaitMs = (kind: string): number => (kind === 'POST /x402/settle' ? 80_000 : 20_000);
/** What a client sends again: no server, one that is just ending, and 503 of one that cannot do it now. */
const retriable = /^(ECONNREFUSED|ECONNRESET|EPIPE|UND_ERR_SOCKET|503 (unavailable|signers_unavailable))$/;

/** Seconds from SIGTERM to SIGKILL: stop_grace_period in docker-compose.yml. */
const graceSeconds = { api: 60, worker: 45, authoriser: 30, mpc: 30 } as const;
type Part = keyof typeof graceSeconds;

const twins = { api: new Twin('api'), worker: new Twin('worker'), authoriser: new Twin('authoriser') };
const senders: Account[] = [];
const payers: PrivateKeyAccount[] = [];
let client: CarefulClient;

beforeAll(async () => {
  await Promise.all(Object.values(twins).map((twin) => twin.start()));
  const servers = [api(), new ApiClient(twins.api.baseUrl, api().credentials)];
  await Promise.all(servers.map((server) => server.accessToken()));
  client = new CarefulClient(servers);
  for (let count = 0; count < 2; count += 1) senders.push(await fundedAccount('ethereum', { ETH: '5' }));
  await untilSettling();
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

const restarts: Restart[] = [];

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

async function restartOwn(part: Part, position: number, name: string = part): Promise<void> {
  const pid = stack().processes[part]?.[position] ?? 0;
  const env = environmentOf(pid);
  const since = Date.now();
  process.kill(pid, 'SIGTERM');
  const code = await exitCodeOf(pid);
  restarts.push({ process: name, code, seconds: (Date.now() - since) / 1_000 });
  await waitFor(async () => stack().processes[part]?.[position] !== pid && (await ownPage(env, '/health/ready')).ok, {
    timeoutMs: 180_000,
  });
}

async function restartTwin(part: keyof typeof twins): Promise<void> {
  const since = Date.now();
  const code = await twins[part].stop();
  restarts.push({ process: `second ${part}`, code, seconds: (Date.now() - since) / 1_000 });
  await twins[part].start();
}

/** Where the nodes are in stack.json. */
const positionOf = (node: NodeIndex): number =>
  (stack().processes.mpc ?? []).findIndex((pid) => Number(environmentOf(pid).MPC_NODE_INDEX) === node);

const recipients = new Map<string, string>();
const settled = new Map<Address, Settled>();
let isOver = false;

async function transfers(sender: Account): Promise<void> {
  const open: string[] = [];
  for (; !isOver && recipients.size < most.transfers; await delay(transferPauseMs)) {
    const to = randomAddress();
    const body = { from_address: sender.address, to_address: to, chain: 'ethereum', token_symbol: 'ETH', amount };
    const answer = await client.request<{ tx_id: string }>('POST', '/transfer', 202, { body });
    recipients.set(answer.body.tx_id, to);
    open.push(answer.body.tx_id);
    for (; !isOver && open.length >= mostOpen; await delay(transferPauseMs)) {
      const { body: oldest } = await client.request<{ status: string }>('GET', `/transactions/${open[0]}`, 200);
      if (ends.includes(oldest.status)) open.shift();
    }
  }
}

async function reads(): Promise<void> {
  for (; !isOver; await delay(readPauseMs)) {
    const txId = [...recipients.keys()].at(-1);
    if (txId) await client.request('GET', `/transactions/${txId}`, 200);
    await client.request('GET', `/assets?account_id=${senders[0]?.account_id}`, 200);
    await client.request('GET', '/transactions?page_size=20', 200);
  }
}

/** As the documents say: asked again, with the same payment, while it goes on, and when nothing was signed within the wait. */
async function settlements(payer: PrivateKeyAccount): Promise<void> {
  for (; !isOver && settled.size < most.settlements; await delay(settlePauseMs)) {
    const payTo = randomAddress() as Address;
    const body: JsonObject = await signed({ kind: 'eip3009', payer, payTo });
    for (const until = Date.now() + settleForMs; ;) {
      const { body: answer } = await client.request<Settled>('POST', '/x402/settle', 200, { body });
      if (!undecided.includes(answer.errorReason ?? '') || Date.now() >= until) {
        settled.set(payTo, answer);
        break;
      }
      await delay(settleRetryMs);
    }
  }
}

/** Work that began, and was accepted, after the last restart. */
async function more(): Promise<void> {
  const least = recipients.size + transfersBetween;
  await waitFor(() => recipients.size >= least || client.failures.length > 0, { timeoutMs: 180_000, intervalMs: 50 });
}

async function restartInTurn(): Promise<void> {
  try {
    for (const part of ['api', 'worker', 'authoriser'] as const) {
      await more();
      await restartOwn(part, 0);
      await more();
      await restartTwin(part);
    }
    for (const node of nodeIndexes) {
      await more();
      await restartOwn('mpc', positionOf(node), `mpc ${node}`);
    }
    await more();
  } finally {
    isOver = true;
  }
}

test('every process is restarted under load: no request fails that a retry does not cure, and nothing is lost or done twice', async () => {
  const results = await Promise.allSettled([restartInTurn(), ...senders.map(transfers), reads(), ...payers.map(settlements)]);
  expect(client.failures).toEqual([]);
  for (const result of results) expect(result).toMatchObject({ status: 'fulfilled' });
  expect(Object.keys(client.retried).filter((reason) => !retriable.test(reason))).toEqual([]);
  // an API that is not there is noticed: its clients take the other one
  expect(Object.keys(client.retried)).not.toEqual([]);
  expect(Object.keys(client.longest).sort()).toEqual([
    ...['GET /assets', 'GET /transactions', 'GET /transactions/…', 'POST /transfer', 'POST /x402/settle'],
  ]);
  expect(Object.entries(client.longest).filter(([kind, ms]) => ms > longestWaitMs(kind))).toEqual([]);
  expect(restarts).toHaveLength(9);
  for (const { process: name, code, seconds } of restarts) {
    const part = name.replace('second ', '').split(' ')[0] as Part;
    expect({ name, code, inTime: seconds < graceSeconds[part] }).toEqual({ name, code: 0, inTime: true });
  }

  for (const [txId, to] of recipients) {
    expect(await transactionWhen(txId, ends, 180_000)).toMatchObject({ status: 'CONFIRMED' });
    expect(await onChain('ethereum', to)).toBe(parseUnits(amount, 18));
  }
  const sent = await gatewayQuery<{ tx_id: string }>(
    `select tx_id from transactions where account_id = any($1::uuid[]) and transaction_type = 'OUTBOUND'`,
    [senders.map(({ account_id: id }) => id)],
  );
  expect(sent.map(({ tx_id: txId }) => txId).sort()).toEqual([...recipients.keys()].sort());
  for (const sender of senders) await expectBalanced(sender, 'ethereum');

  expect(settled.size).toBeGreaterThan(payers.length);
  expect([...settled.values()].filter(({ success }) => !success)).toEqual([]);
  for (const payTo of settled.keys()) {
    expect({ payTo, received: await usdcOf(payTo) }).toEqual({ payTo, received: paid });
    expect((await settlementsTo(payTo)).filter(({ status }) => status === 'CONFIRMED')).toHaveLength(1);
  }
  expect(await differingCounters()).toEqual([]);
  expect(await ledgerDifferences()).toEqual([]);
  expect(await recordDifferences()).toEqual([]);
}, 900_000);
