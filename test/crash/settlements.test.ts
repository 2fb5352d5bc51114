import { setTimeout as delay } from 'node:timers/promises';
import { devChain } from '../../dev/chain';
import { recordDifferences } from '../adversary/records';
import { ledgerDifferences } from '../e2e/ledger';
import { paidOn, usdcOf } from '../e2e/payers';
import type { HeldGap } from './gaps';
import { HeldPayments, paid, type Payment } from './held-payments';
import { settlementsTo } from './settlement-rows';
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
});
afterAll(async () => {
  await payments.holds.remove();
  expect(await recordDifferences()).toEqual([]);
});

/** `createsWallets`: of payers whose wallets the settlements create. */
async function crashWith(victim: Victim, createsWallets: boolean): Promise<Payment[]> {
  await allRun();
  const send = (gap: HeldGap) => (createsWallets ? payments.sendCreating(gap) : payments.send(gap));
  const sent: Payment<HeldGap>[] = [];
  try {
    for (const phase of phases) {
      sent.push(...(await Promise.all(phase.map(send))));
      await payments.reached(sent);
    }
    kill(victim, 1);
    await delay(300);
  } finally {
    await payments.holds.releaseAll();
  }
  return sent;
}

const ofKeys = victims.map((victim) => ({ victim, payer: 'a key', createsWallets: false }));
const ofNewWallets = (['worker', 'all'] as const).map((victim) => ({
  ...{ victim, payer: 'a wallet that does not exist yet', createsWallets: true },
}));

test.each([...ofKeys, ...ofNewWallets])(
  '$victim killed: every payment of $payer is made once, and answered with its transaction',
  async ({ victim, createsWallets }) => {
    for (const { place, payer, payTo, answer } of await crashWith(victim, createsWallets)) {
      expect({ place, ...(await answer) }).toMatchObject({ place, success: true, transaction: expect.stringMatching(/^0x/) });
      expect({ place, received: await usdcOf(payTo) }).toEqual({ place, received: paid });
      const executed = (await settlementsTo(payTo)).filter((row) => row.executed.length > 0);
      expect({ place, executed }).toMatchObject({ place, executed: [{ status: 'CONFIRMED', charges: 1, is_over: true }] });
      const code = await devChain(paidOn().rpc).getCode({ address: payer });
      expect({ place, isWallet: code !== undefined }).toEqual({ place, isWallet: createsWallets });
    }
    expect(await ledgerDifferences()).toEqual([]);
  },
);
