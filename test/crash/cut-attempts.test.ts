import { setTimeout as delay } from 'node:timers/promises';
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
/** Longer than a cut is noticed: the next one comes when it is over. */
const betweenCutsMs = 12_000;

/** Of what is cancelled. */
let account: Account;
beforeAll(async () => {
  account = await newAccount();
});
afterAll(async () => {
  expect(await ledgerDifferences()).toEqual([]);
  expect(await recordDifferences()).toEqual([]);
});

const newAccount = () => fundedAccount('base', { ETH: '1' });

function send(name: CutGap & InGap['name'], from: Account): InGap {
  const to = randomAddress();
  return { name, account: from, to, submission: submit(from, to, amount, { chain: 'base' }) };
}

async function secondIsSent({ submission }: InGap): Promise<void> {
  const { txId } = await submission;
  const sent = `select from transfer_attempts where tx_id = $1 and attempt = 2 and broadcast_at is not null`;
  await waitFor(async () => (await gatewayQuery(sent, [txId])).length === 1, { timeoutMs: 60_000 });
}

interface Fault {
  fault: CommitFault;
  awayMs: number;
}
const faults: readonly Fault[] = [
  { fault: 'never arrives', awayMs: 0 },
  { fault: 'answer lost', awayMs: 0 },
  // longer than the outcome is looked up: the worker asks again without knowing that the attempt has begun
  { fault: 'answer lost', awayMs: 9_000 },
];

describe('a replacement', () => {
  interface Replaced {
    cut: Cut;
    transfer: InGap;
    outcome?: string;
  }
  const replaced = new Map<Fault, Replaced>();
  const replacedBy = (fault: Fault): Replaced => replaced.get(fault) as Replaced;

  /**
   * No block takes the first attempts, and each waits for its replacement while the others do. The longest outage comes first:
   * all replacements have to be sent before one of them has waited so long that it is replaced too.
   */
  beforeAll(async () => {
    const gap = 'prepare: a replacement';
    const inTurn = faults.toSorted((a, b) => b.awayMs - a.awayMs);
    const accounts = await Promise.all(inTurn.map(newAccount));
    const base = chainOf('base');
    await base.setIntervalMining({ interval: 0 });
    try {
      for (const [at, each] of inTurn.entries()) {
        if (at > 0) await delay(betweenCutsMs);
        const from = accounts[at] as Account;
        const options = { gap, ...each, address: from.address, name: `cut_${at}` } as const;
        const cut = await Cut.install(stack().postgres.url, options);
        replaced.set(each, { cut, transfer: send(gap, from) });
      }
      for (const one of replaced.values()) {
        one.outcome = await one.cut.outcome(cutWithinMs);
        await secondIsSent(one.transfer);
      }
    } finally {
      await base.setIntervalMining({ interval: 1 });
      for (const { cut } of replaced.values()) await cut.remove();
    }
  });

  test.each(faults)('$fault, away for $awayMs ms: begun once', async (fault) => {
    const { outcome, transfer } = replacedBy(fault);
    expect(outcome).toBe(cutOutcomes[fault.fault]);
    await expectEnd(transfer);
  });
});

test.each(faults)("the gateway's cancellation, $fault, away for $awayMs ms: begun once", async ({ fault, awayMs }) => {
  const gap = 'prepare: a cancellation';
  const { address } = account;
  const holds = await Holds.install(stack().postgres.url);
  const cut = await Cut.install(stack().postgres.url, { gap, fault, awayMs, address });
  try {
    await holds.hold('broadcast: recordSigned', address);
    const transfer = send(gap, account);
    await holds.reached('broadcast: recordSigned', 60_000, address);
    await list('BLACKLIST', account, 'base', transfer.to);
    await holds.release('broadcast: recordSigned', address);
    expect(await cut.outcome(cutWithinMs)).toBe(cutOutcomes[fault]);
    await secondIsSent(transfer);
    await expectEnd(transfer);
  } finally {
    await cut.remove();
    await holds.remove();
  }
});
