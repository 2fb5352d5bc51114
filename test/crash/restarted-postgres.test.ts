import { alarmsOf, gatewayQuery } from '../adversary/processes';
import { recordDifferences } from '../adversary/records';
import { ledgerDifferences } from '../e2e/ledger';
import { call, transactionWhen, type Account } from '../e2e/support';
import { randomAddress } from '../factories';
import { waitFor } from '../stack/client';
import { pause, pids, resumeAll } from '../stack/pause';
import { submit } from './submit';
import { crashAccount } from './transfer';

/** Postgres stops in its immediate mode, as after a crash, and starts again while Temporal is away: the orders cannot be compared at first. */

let account: Account;
beforeAll(async () => {
  account = await crashAccount();
});
afterEach(() => resumeAll());

const someTransfers = (count: number) => Array.from({ length: count }, () => submit(account, randomAddress(), '0.001'));
const incarnation = async () =>
  (await gatewayQuery<{ incarnation: string }>('select database_incarnation() as incarnation'))[0]?.incarnation;
const missingAlarms = () => alarmsOf('authoriser').filter(({ alert }) => alert === 'orders_missing').length;

test('what was accepted before runs on, what comes meanwhile is told to wait, and accepting opens without an operator', async () => {
  const alarmsBefore = missingAlarms();
  const before = await incarnation();
  const running = someTransfers(3);
  await transactionWhen((await running[0])?.txId ?? '', ['SIGNING', 'SUBMITTED', 'CONFIRMED']);
  pause('temporal');
  // accepted without Temporal: their start waits in the outbox
  const waiting = await Promise.all(someTransfers(3));
  const [postmaster = 0] = pids('postgres');
  process.kill(postmaster, 'SIGQUIT');
  await waitFor(() => pids('postgres')[0] !== postmaster, { timeoutMs: 60_000 });
  await waitFor(async () => (await incarnation()) !== before, { timeoutMs: 60_000 });

  const told: string[][] = [[], []];
  const refused = told.map((answers) =>
    submit(account, randomAddress(), '0.001', { onAnswer: (answer) => answers.push(answer) }),
  );
  await waitFor(async () => (await call('GET', `/transactions/${waiting[0]?.txId}`)).status === 200, { timeoutMs: 60_000 });
  // more than once: nothing opens while Temporal is away
  const isTold = (answers: string[]) => answers.filter((answer) => answer === '503 reconcile_required').length > 1;
  await waitFor(() => told.every(isTold), { timeoutMs: 120_000 });
  resumeAll();
  const [early, late] = [[...(await Promise.all(running)), ...waiting], await Promise.all(refused)];
  for (const { answers } of late) {
    expect(answers).toContain('503 reconcile_required');
    expect(answers.at(-1)).toBe('202');
  }
  for (const { txId, txIds } of [...early, ...late]) {
    expect([...txIds]).toEqual([txId]);
    expect((await transactionWhen(txId, ['CONFIRMED', 'FAILED', 'REJECTED'], 240_000)).status).toBe('CONFIRMED');
  }
  expect(await gatewayQuery('select from order_comparison where missing_since is not null')).toEqual([]);
  expect(missingAlarms()).toBe(alarmsBefore);
  expect(await ledgerDifferences()).toEqual([]);
  expect(await recordDifferences()).toEqual([]);
});
