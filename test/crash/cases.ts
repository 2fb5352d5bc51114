import { randomUUID } from 'node:crypto';
import { createPublicClient, http, type Address } from 'viem';
import { privateKeyToAccount, generatePrivateKey } from 'viem/accounts';
import { ledgerDifferences } from '../e2e/ledger';
import { balances, call, fundedAccount, transactionWhen, type Account } from '../e2e/support';
import { stack, waitFor } from '../stack/client';
import { Holds, type Step } from './holds';

export type Victim = 'api' | 'worker' | 'mpc' | 'all';
export const victims: Victim[] = ['api', 'worker', 'mpc', 'all'];

const amount = '0.01';
const amountAtomic = 10_000_000_000_000_000n;

/** Kills -9 what the supervisor will start again; of the nodes one, since two of three must go on. */
export function kill(victim: Victim): void {
  const { api: apis, worker, mpc } = stack().processes;
  const pids =
    { api: apis, worker, mpc: mpc?.slice(0, 1), all: [...(apis ?? []), ...(worker ?? []), ...(mpc ?? []).slice(0, 1)] }[victim] ??
    [];
  for (const pid of pids) process.kill(pid, 'SIGKILL');
}

/** Steps that write nothing to hold: the part they ask is paused instead. */
const paused = {
  start: { part: 'temporal', reached: 'PENDING' },
  lock: { part: 'worker', reached: 'PENDING' },
  prepare: { part: 'chain:ethereum', reached: 'PENDING' },
  sign: { part: 'mpc', reached: 'SIGNING' },
  broadcast: { part: 'chain:ethereum', reached: 'SIGNING' },
} as const;
export type Point = Step | keyof typeof paused;
/** In the order of a transfer. */
export const points: Point[] = [
  'accept',
  'commit',
  'start',
  'lock',
  'prepare',
  'beginSigning',
  'sign',
  'persistSignature',
  'broadcast',
  'recordBroadcast',
  'submitted',
  'recordInclusion',
  'settle',
];

/**
 * One transfer, `victim` killed while the given step is about to be done: it must end, the money must have moved once,
 * and the ledger must verify.
 */
export async function crashAt(point: Point, victim: Victim, account: Account): Promise<void> {
  const to = privateKeyToAccount(generatePrivateKey()).address;
  const key = randomUUID();
  if (point in paused) await killPaused(point as keyof typeof paused, victim, account, to, key);
  else await killHeld(point as Step, victim, account, to, key);
  // the client's part: the same key again until there is an answer
  const accepted = await waitFor(
    async () => {
      const answer = await post(account, to, key).catch(() => undefined);
      return answer?.status === 202 ? answer : undefined;
    },
    { timeoutMs: 60_000, intervalMs: 500 },
  );
  const transfer = await transactionWhen(accepted.body.tx_id as string, ['CONFIRMED'], 120_000);

  const chain = createPublicClient({ transport: http(stack().chains.ethereum?.rpc) });
  expect(await chain.getBalance({ address: to })).toBe(amountAtomic);
  expect(transfer.timeline.map(({ status }: { status: string }) => status)).toEqual([
    'PENDING',
    'SIGNING',
    'SUBMITTED',
    'CONFIRMED',
  ]);
  const { ETH } = await balances(account.account_id, 'ethereum');
  const onChain = await chain.getBalance({ address: account.address as Address });
  expect(ETH?.locked_balance).toBe('0');
  expect(toAtomic(ETH?.balance ?? '')).toBe(onChain);
  expect(await ledgerDifferences()).toEqual([]);
}

/** Kills while the step's write waits in the database. */
async function killHeld(step: Step, victim: Victim, account: Account, to: string, key: string): Promise<void> {
  const holds = await Holds.install(stack().postgres.url);
  try {
    await holds.hold(step);
    const posted = post(account, to, key).catch(() => undefined);
    await holds.reached(step, 60_000);
    kill(victim);
    await sleep(300);
    await holds.release(step);
    await posted;
  } finally {
    await holds.remove();
  }
}

/** Kills while the part that the step asks does not answer. */
async function killPaused(point: keyof typeof paused, victim: Victim, account: Account, to: string, key: string): Promise<void> {
  const { part, reached } = paused[point];
  const pids = stack().processes[part] ?? [];
  const holds = await Holds.install(stack().postgres.url);
  try {
    // the signature comes before the broadcast: the chain is paused once there is one
    if (point === 'broadcast') await holds.hold('persistSignature');
    else signal(pids, 'SIGSTOP');
    const posted = post(account, to, key).catch(() => undefined);
    if (point === 'broadcast') {
      await holds.reached('persistSignature', 60_000);
      signal(pids, 'SIGSTOP');
      await holds.release('persistSignature');
    }
    const txId = await waitFor(async () => (await posted)?.body.tx_id as string | undefined, { timeoutMs: 30_000 });
    await transactionWhen(txId, [reached], 30_000);
    await sleep(700);
    kill(victim);
    await sleep(300);
  } finally {
    signal(pids, 'SIGCONT');
    await holds.remove();
  }
}

/** One that was killed meanwhile has no use for it. */
function signal(pids: number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export const crashAccount = (): Promise<Account> => fundedAccount('ethereum', { ETH: '5' });

async function post(account: Account, to: string, key: string) {
  return call('POST', '/transfer', {
    body: { from_address: account.address, to_address: to, chain: 'ethereum', token_symbol: 'ETH', amount },
    headers: { 'idempotency-key': key },
  });
}

function toAtomic(display: string): bigint {
  const [whole = '0', fraction = ''] = display.split('.');
  return BigInt(whole + fraction.padEnd(18, '0'));
}
