import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { AccountView } from '../../src/accounts/schema';
import { ApiClient } from './api-client';
import { fund as fundOn } from '../../dev/fund';
import type { StackFile } from '../../dev/stack-file';
import type { WalletView } from '../../src/wallets/schema';

export type { Answer } from './api-client';
export { send } from './api-client';

/** A key generation takes some 11 seconds of processor time, and at the start of a run there are several at once. */
const walletTimeoutMs = 420_000;

/** The running stack. Read from its file every time: pids change when a process is killed. */
export function stack(): StackFile {
  return JSON.parse(readFileSync(stackFile(), 'utf8')) as StackFile;
}

/** Where the stack keeps its data: secrets, logs, the nodes' journal marks. */
export const dataFolder = (): string => path.dirname(stackFile());

function stackFile(): string {
  const file = process.env.GATEWAY_TEST_STACK;
  if (!file) throw new Error('there is no stack: run this test in the jest project `e2e`, `crash` or `adversary`');
  return file;
}

/** Whether every check of the API passes, also those that are a detail of its readiness: signing nodes, chains, orders. */
export async function areAllChecksPassing(): Promise<boolean> {
  const { checks = {} } = (await (await fetch(stack().health_url)).json()) as { checks?: Record<string, boolean | string> };
  return Object.keys(checks).length > 0 && !Object.values(checks).includes(false);
}

const clients = new Map<string, ApiClient>();

/** The two seeded clients. */
export type ClientName = 'demo' | 'other';

/** The API as one of them. */
export function api(name: ClientName = 'demo'): ApiClient {
  const { base_url, clients: seeded } = stack();
  const credentials = seeded.find((candidate) => candidate.name === name);
  if (!credentials) throw new Error(`there is no client ${name}`);
  const client = clients.get(name) ?? new ApiClient(base_url, credentials);
  clients.set(name, client);
  return client;
}

/** From the chain's faucet, in display units; resolves with the transaction hash when a block has it. */
export function fund(chain: string, symbol: string, address: string, amount: string): Promise<string> {
  return fundOn(stack(), chain, symbol, address, amount);
}

/**
 * Polls until the function returns something other than undefined, null or false. Errors count as "not yet" and end up in the message. The time limit
 * only ends a wait that is in vain: on a machine that is busy with other test files a deposit alone takes half a minute.
 */
export async function waitFor<T>(
  fn: () => Promise<T> | T,
  { timeoutMs = 90_000, intervalMs = 200 } = {},
): Promise<NonNullable<Exclude<T, false>>> {
  const deadline = Date.now() + timeoutMs;
  let last: unknown;
  for (;;) {
    try {
      const value = await fn();
      if (value !== undefined && value !== null && value !== false) return value as NonNullable<Exclude<T, false>>;
      last = value;
    } catch (error) {
      last = error;
    }
    if (Date.now() >= deadline)
      throw new Error(`waited ${timeoutMs} ms in vain; last: ${last instanceof Error ? last.message : JSON.stringify(last)}`);
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }
}

/**
 * Kills one process of a part (`api`, `worker`, `mpc`, `temporal`, `postgres`, `chain:ethereum`) with SIGKILL and waits until
 * the supervisor has started it again. What it serves may take a moment longer.
 */
export async function killProcess(part: string, index = 0): Promise<void> {
  const pid = stack().processes[part]?.[index];
  if (pid === undefined) throw new Error(`the stack has no process ${index} of ${part}`);
  const count = stack().processes[part]?.length;
  process.kill(pid, 'SIGKILL');
  await waitFor(
    () => {
      const pids = stack().processes[part] ?? [];
      return pids.length === count && !pids.includes(pid);
    },
    { timeoutMs: 60_000, intervalMs: 20 },
  );
}

export async function createActiveWallet(clientName: ClientName = 'demo'): Promise<WalletView> {
  const client = api(clientName);
  const created = await client.request<WalletView>('POST', '/wallets', { body: { wallet_name: `test ${Date.now()}` } });
  if (created.status !== 201) throw new Error(`POST /wallets answered ${created.status}: ${JSON.stringify(created.body)}`);
  return activeWallet(client, created.body.wallet_id);
}

async function activeWallet(client: ApiClient, walletId: string): Promise<WalletView> {
  return waitFor(
    async () => {
      const { body } = await client.request<WalletView>('GET', `/wallets/${walletId}`);
      return body.status === 'ACTIVE' && body.key_status === 'ACTIVE' && body;
    },
    { timeoutMs: walletTimeoutMs, intervalMs: 500 },
  );
}

/** While the nodes generate the keys of wallets, the key of an account may take longer than a request waits for it: nothing is created then. */
const accountTriesMs = 420_000;

export async function createAccount(walletId: string, chain: string, clientName: ClientName = 'demo'): Promise<AccountView> {
  for (const until = Date.now() + accountTriesMs; ;) {
    const { status, body } = await api(clientName).request<AccountView>('POST', '/accounts', {
      body: { wallet_id: walletId, chain },
    });
    if (status === 201) return body;
    if (status !== 503 || Date.now() >= until) throw new Error(`POST /accounts answered ${status}: ${JSON.stringify(body)}`);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}

/**
 * An ACTIVE wallet of client `demo` that all test files of a run share, since generating keys is slow: each test uses an account of
 * its own. The first file that calls this creates it; the others wait.
 */
export async function sharedWallet(): Promise<WalletView> {
  const remembered = path.join(path.dirname(stackFile()), 'shared-wallet.json');
  const lock = `${remembered}.lock`;
  return waitFor(
    async () => {
      if (existsSync(remembered))
        return activeWallet(api(), (JSON.parse(readFileSync(remembered, 'utf8')) as { wallet_id: string }).wallet_id);
      if (!takeLock(lock)) return null;
      try {
        const wallet = await createActiveWallet();
        writeFileSync(remembered, JSON.stringify({ wallet_id: wallet.wallet_id }));
        return wallet;
      } finally {
        rmSync(lock, { force: true });
      }
    },
    { timeoutMs: 2 * walletTimeoutMs, intervalMs: 500 },
  );
}

/** False while another file creates the wallet; a lock left by a killed test is removed. */
function takeLock(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > walletTimeoutMs) rmSync(lock, { force: true });
    return false;
  }
}
