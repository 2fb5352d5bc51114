import { setTimeout as delay } from 'node:timers/promises';
import { recordDifferences } from '../adversary/records';
import { ledgerDifferences } from '../e2e/ledger';
import { usdcOf } from '../e2e/payers';
import type { HeldGap } from './gaps';
import { HeldPayments, paid, type Payment } from './held-payments';
import { allRun, kill, type Victim, victims } from './victims';

/** A settlement in every gap that its row tells, each of a payer of its own, while one part is killed: each payment is made once. */

/** In the order in which they are sent: what holds the follower, or a nonce, keeps those after it from being included. */
const phases: readonly (readonly HeldGap[])[] = [
  ['settle: settleTransfer'],
  ['confirm: storeInclusion'],
  ['prepare: enterSigning', 'broadcast: recordSigned', 'broadcast: markBroadcast', 'broadcast: markSubmitted'],
  ['start: remove the message', 'accept: COMMIT', 'accept: insert'],
];

let payments: HeldPayments<HeldGap>;

beforeAll(async () => {
  payments = await HeldPayments.install(phases.flat());
}, 400_000);
afterAll(async () => {
  await payments.holds.remove();
  expect(await recordDifferences()).toEqual([]);
}, 240_000);

async function crashWith(victim: Victim): Promise<Payment[]> {
  await allRun();
  const sent: Payment<HeldGap>[] = [];
  try {
    for (const phase of phases) {
      sent.push(...(await Promise.all(phase.map((gap) => payments.send(gap)))));
      await payments.reached(sent);
    }
    kill(victim, 1);
    await delay(300);
  } finally {
    await payments.holds.releaseAll();
  }
  return sent;
}

test.each(victims)(
  '%s killed: every payment is made once, and answered with its transaction',
  async (victim) => {
    for (const { place, payTo, answer } of await crashWith(victim)) {
      expect({ place, ...(await answer) }).toMatchObject({ place, success: true, transaction: expect.stringMatching(/^0x/) });
      expect({ place, received: await usdcOf(payTo) }).toEqual({ place, received: paid });
    }
    expect(await ledgerDifferences()).toEqual([]);
  },
  400_000,
);
