import { setTimeout as delay } from 'node:timers/promises';
import { recordDifferences } from '../adversary/records';
import { ledgerDifferences } from '../e2e/ledger';
import { ends, fundedAccount, transactionWhen, type Account } from '../e2e/support';
import { randomAddress } from '../factories';
import { killProcess } from '../stack/client';
import { submit } from './submit';

/** KILLED_TRANSFERS=1000 for the whole measure; fewer by default, since the rest of them only takes longer. */
const burst = { count: Number(process.env.KILLED_TRANSFERS ?? 60), inFlight: 20 };
/** One process is killed so often; each of them in turn, so that each has the time to begin its work again. */
const killEveryMs = 5_000;
const victims = [
  ['worker', 0],
  ['mpc', 0],
  ['api', 0],
  ['authoriser', 0],
  ['mpc', 1],
  ['mpc', 2],
] as const;

/** Transfers that are sent after the others, one at a time. */
const maxMore = 100;

/** How often something was killed. */
let kills = 0;

/** Kills until it is told to stop. */
async function killInTurn(stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    const [part, index] = victims[kills % victims.length] ?? victims[0];
    await killProcess(part, index);
    kills += 1;
    await delay(killEveryMs, undefined, { signal: stop }).catch(() => undefined);
  }
}

/** Submits all transfers, some at a time, and waits for their ends; then more, until everything was killed once. */
async function transferAll(account: Account): Promise<{ txIds: Set<string>; statuses: Set<string> }> {
  const txIds = new Set<string>();
  const statuses = new Set<string>();
  let left = burst.count;
  const sendInTurn = async () => {
    while (left > 0) {
      left -= 1;
      const submitted = await submit(account, randomAddress(), '0.0001');
      for (const txId of submitted.txIds) txIds.add(txId);
    }
  };
  await Promise.all(Array.from({ length: burst.inFlight }, sendInTurn));
  for (const txId of txIds) statuses.add((await transactionWhen(txId, ends, 900_000)).status as string);
  // on a fast machine all has ended before everything was killed
  for (let more = 0; more < maxMore && kills < victims.length; more += 1) {
    const { txId } = await submit(account, randomAddress(), '0.0001');
    txIds.add(txId);
    statuses.add((await transactionWhen(txId, ends, 300_000)).status as string);
  }
  return { txIds, statuses };
}

test(`${burst.count} transfers while every process is killed in turn: all confirmed, each with an order and two journal entries`, async () => {
  const account = await fundedAccount('ethereum', { ETH: '50' });
  const done = new AbortController();
  const killing = killInTurn(done.signal);
  const { txIds, statuses } = await transferAll(account).finally(() => done.abort());
  await killing;
  expect(kills).toBeGreaterThanOrEqual(victims.length);
  expect(txIds.size).toBeGreaterThanOrEqual(burst.count);
  expect(statuses).toEqual(new Set(['CONFIRMED']));
  expect(await ledgerDifferences()).toEqual([]);
  expect(await recordDifferences()).toEqual([]);
}, 3_600_000);
