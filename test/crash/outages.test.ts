import { setTimeout as delay } from 'node:timers/promises';
import { recordDifferences } from '../adversary/records';
import { randomAddress } from '../factories';
import { ledgerDifferences } from '../e2e/ledger';
import { call, ends, fundedAccount, transactionWhen, type Account } from '../e2e/support';
import { pause, resumeAll } from '../stack/pause';
import { waitFor } from '../stack/client';
import { submit } from './submit';

/** Longer than everything that ends by itself: statements (15 s), leases of keys (30 s), database transactions that are idle (30 s). */
const outageSeconds = Number(process.env.OUTAGE_SECONDS ?? 60);
/** One new transfer every so often, from before the outage until after it. */
const everyMs = 700;

let account: Account;
beforeAll(async () => {
  account = await fundedAccount('ethereum', { ETH: '50' });
}, 180_000);
afterEach(() => resumeAll());
afterAll(async () => expect(await recordDifferences()).toEqual([]), 240_000);

/** Each is read right after it was accepted. */
async function submitAndRead() {
  const submission = await submit(account, randomAddress(), '0.001');
  return { ...submission, read: (await call('GET', `/transactions/${submission.txId}`)).status };
}

/** Load from before the outage until after it; ends when every transfer has ended. */
async function loadThrough(part: string) {
  const running: ReturnType<typeof submitAndRead>[] = [];
  const load = async (ms: number) => {
    for (const until = Date.now() + ms; Date.now() < until; await delay(everyMs)) running.push(submitAndRead());
  };
  await load(5_000);
  pause(part);
  await load(outageSeconds * 1_000);
  resumeAll();
  await waitFor(async () => (await call('GET', '/health/ready')).status === 200, { timeoutMs: 60_000, intervalMs: 500 });
  await load(5_000);
  const submissions = await Promise.all(running);
  for (const { txId } of submissions) {
    const { status } = await transactionWhen(txId, ends, 300_000);
    expect(status).toBe('CONFIRMED');
  }
  expect(new Set(submissions.map(({ txId }) => txId)).size).toBe(submissions.length);
  expect(await ledgerDifferences()).toEqual([]);
  return submissions;
}

test(`Temporal is away for ${outageSeconds} s under load: every transfer is accepted at once and runs when it is back`, async () => {
  const submissions = await loadThrough('temporal');
  for (const { answers, read } of submissions) {
    expect(answers).toEqual(['202']);
    expect(read).toBe(200);
  }
}, 900_000);

test(`Postgres is away for ${outageSeconds} s under load: refused clearly, accepted once it is back, nothing twice`, async () => {
  const submissions = await loadThrough('postgres');
  const refusals = submissions.flatMap(({ answers }) => answers.filter((answer) => answer !== '202'));
  expect(refusals.length).toBeGreaterThan(0);
  // only a request whose COMMIT was under way as Postgres stopped can have an unknown outcome
  const unknown = submissions.filter(({ answers }) => answers.includes('503 outcome_unknown'));
  expect(unknown.length).toBeLessThanOrEqual(2);
  // what claimed its key before the outage keeps it until its lease is over: 409 says so, and the same key is good later
  const clear = ['503 unavailable', '503 outcome_unknown', '409 idempotency_in_progress', 'no answer'];
  expect(refusals.filter((answer) => !clear.includes(answer))).toEqual([]);
  for (const { read } of submissions) expect(read).toBe(200);
}, 900_000);
