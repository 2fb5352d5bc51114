import { setTimeout as delay } from 'node:timers/promises';
import type { Address, PrivateKeyAccount } from 'viem';
import { recordDifferences } from '../adversary/records';
import { ledgerDifferences } from '../e2e/ledger';
import { usdcOf } from '../e2e/payers';
import { randomAddress } from '../factories';
import { account } from '../integration/dev/payers';
import { fund, stack, waitFor } from '../stack/client';
import { signed } from '../x402';
import type { HeldGap } from './gaps';
import { Holds } from './holds';
import { settle, settleOnce, type Settled } from './settling';
import { allRun, kill, type Victim, victims } from './victims';

/** A settlement in every gap that its row tells, each of a payer of its own, while one part is killed: each payment is made once. */

const chain = 'base';
const reachMs = 60_000;

/** In the order in which they are sent: what holds the follower, or a nonce, keeps those after it from being included. */
const phases: readonly (readonly HeldGap[])[] = [
  ['settle: settleTransfer'],
  ['confirm: storeInclusion'],
  ['prepare: enterSigning', 'broadcast: recordSigned', 'broadcast: markBroadcast', 'broadcast: markSubmitted'],
  ['start: remove the message', 'accept: COMMIT', 'accept: insert'],
];
const gaps = phases.flat();

interface Payment {
  gap: HeldGap;
  payTo: Address;
  /** What the client was answered in the end. */
  answer: Promise<Settled>;
}

let holds: Holds;
let payers: Map<HeldGap, PrivateKeyAccount>;

beforeAll(async () => {
  await waitFor(() => stack().settlers[chain], { timeoutMs: 240_000, intervalMs: 500 });
  const funded = gaps.map(async (gap) => {
    const payer = account(`settled in ${gap} ${Date.now()}`);
    await fund(chain, 'USDC', payer.address, '1');
    return [gap, payer] as const;
  });
  payers = new Map(await Promise.all(funded));
  // the settler's coins have to be credited
  await waitFor(async () => (await settleOnce(await paymentOf(gaps[0] as HeldGap, randomAddress()))).success, {
    ...{ timeoutMs: 60_000, intervalMs: 500 },
  });
  holds = await Holds.install(stack().postgres.url);
}, 400_000);
afterAll(async () => {
  await holds.remove();
  expect(await recordDifferences()).toEqual([]);
}, 240_000);

const payerOf = (gap: HeldGap) => payers.get(gap) as PrivateKeyAccount;
const paymentOf = (gap: HeldGap, payTo: string) =>
  signed({ kind: 'eip3009', payer: payerOf(gap), changes: { 'authorization.to': payTo, 'terms.payTo': payTo } });
async function send(gap: HeldGap): Promise<Payment> {
  await holds.hold(gap, payerOf(gap).address);
  const payTo = randomAddress() as Address;
  const answer = settle(await paymentOf(gap, payTo));
  // a round that fails does not await it
  answer.catch(() => undefined);
  return { gap, payTo, answer };
}

async function reached(payments: readonly Payment[]): Promise<void> {
  const held = payments.map(({ gap }) => ({ gap, address: payerOf(gap).address }));
  for (const until = Date.now() + reachMs; ; await delay(50)) {
    const missing = await holds.notReached(held);
    if (missing.length === 0) return;
    if (Date.now() > until) throw new Error(`not reached: ${missing.map(({ gap }) => gap).join(', ')}`);
  }
}

async function crashWith(victim: Victim): Promise<Payment[]> {
  await allRun();
  const payments: Payment[] = [];
  try {
    for (const phase of phases) {
      payments.push(...(await Promise.all(phase.map(send))));
      await reached(payments);
    }
    kill(victim, 1);
    await delay(300);
  } finally {
    await holds.releaseAll();
  }
  return payments;
}

test.each(victims)(
  '%s killed: every payment is made once, and answered with its transaction',
  async (victim) => {
    for (const { gap, payTo, answer } of await crashWith(victim)) {
      expect({ gap, ...(await answer) }).toMatchObject({ gap, success: true, transaction: expect.stringMatching(/^0x/) });
      expect({ gap, received: await usdcOf(payTo) }).toEqual({ gap, received: 1_000n });
    }
    expect(await ledgerDifferences()).toEqual([]);
  },
  400_000,
);
