import { gatewayQuery } from '../adversary/processes';
import { recordDifferences } from '../adversary/records';
import { ledgerDifferences } from '../e2e/ledger';
import { fundedAccount, type Account } from '../e2e/support';
import { randomAddress } from '../factories';
import { stack, waitFor } from '../stack/client';
import type { CommitFault } from '../stack/postgres-proxy';
import { Cut, cutOutcomes, type CutGap } from './cuts';
import { expectEnd } from './ends';
import { Holds } from './holds';
import { amount, chainOf, type InGap, list } from './scene';
import { submit } from './submit';

/** Attempts after the first one: the authoriser's connection is cut while it begins one. */

/** A replacement begins 45 s after the first attempt. */
const cutWithinMs = 120_000;

let account: Account;
beforeAll(async () => {
  account = await fundedAccount('base', { ETH: '5' });
}, 300_000);
afterEach(() => chainOf('base').setIntervalMining({ interval: 1 }));
afterAll(async () => {
  expect(await ledgerDifferences()).toEqual([]);
  expect(await recordDifferences()).toEqual([]);
}, 240_000);

function send(name: InGap['name']): InGap {
  const to = randomAddress();
  return { name, account, to, submission: submit(account, to, amount, { chain: 'base' }) };
}

/** The transfer that is cut ends as it would without. */
async function cutAt(
  gap: CutGap & InGap['name'],
  { fault, awayMs }: { fault: CommitFault; awayMs: number },
  bringTo: (transfer: InGap) => Promise<void>,
): Promise<void> {
  const cut = await Cut.install(stack().postgres.url, { gap, fault, awayMs });
  const transfer = send(gap);
  try {
    await bringTo(transfer);
    expect(await cut.outcome(cutWithinMs)).toBe(cutOutcomes[fault]);
  } finally {
    await cut.remove();
  }
  const { txId } = await transfer.submission;
  const isSent = () =>
    gatewayQuery('select from transfer_attempts where tx_id = $1 and attempt = 2 and broadcast_at is not null', [txId]);
  await waitFor(async () => (await isSent()).length === 1, { timeoutMs: 60_000 });
  await chainOf('base').setIntervalMining({ interval: 1 });
  await expectEnd(transfer);
}

const faults = [
  { fault: 'never arrives', awayMs: 0 },
  { fault: 'answer lost', awayMs: 0 },
  // longer than the outcome is looked up: the worker asks again without knowing that the attempt has begun
  { fault: 'answer lost', awayMs: 9_000 },
] as const;

test.each(faults)('a replacement, $fault, away for $awayMs ms: begun once', async (fault) => {
  // no block takes the first attempt
  await chainOf('base').setIntervalMining({ interval: 0 });
  await cutAt('prepare: a replacement', fault, () => Promise.resolve());
});

test.each(faults)("the gateway's cancellation, $fault, away for $awayMs ms: begun once", async (fault) => {
  const holds = await Holds.install(stack().postgres.url);
  try {
    await holds.hold('broadcast: recordSigned', account.address);
    await cutAt('prepare: a cancellation', fault, async ({ to }) => {
      await holds.reached('broadcast: recordSigned', 60_000, account.address);
      await list('BLACKLIST', account, 'base', to);
      await holds.release('broadcast: recordSigned', account.address);
    });
  } finally {
    await holds.remove();
  }
});
