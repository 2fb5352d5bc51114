import { setTimeout as delay } from 'node:timers/promises';
import type { Address } from 'viem';
import { devChain } from '../../dev/chain';
import { chainFaults } from '../../dev/faults';
import { gatewayQuery } from '../adversary/processes';
import { recordDifferences } from '../adversary/records';
import { ledgerDifferences } from '../e2e/ledger';
import { findSettler, newPayer, paidChain, paidOn, usdcOf } from '../e2e/payers';
import { dataFolder, waitFor } from '../stack/client';
import { signed } from '../x402';
import type { BreakpointName } from './breakpoints';
import { HeldPayments, paid, type Payment } from './held-payments';
import { confirmed, type Row, settlementsTo } from './settlement-rows';
import { settleOnce, type Settled } from './settling';
import { allRun, kill, type Victim } from './victims';

/**
 * Settlements that no block takes, and whose cancellation or replacement is being begun or committed while one part is killed. Each ends
 * once: what the payer has signed for too short a time moves nothing, and its nonce is used up, so that the others behind it are paid.
 */

/** Their time ends in the round. */
const cancelled = ['prepare: a cancellation', 'prepare: COMMIT of a cancellation'] as const satisfies BreakpointName[];
/** One of them is at the head of the settler's line, and has time left when it counts as stuck: what is behind the head waits for it. */
const replaced = ['prepare: a replacement', 'prepare: COMMIT of a replacement'] as const satisfies BreakpointName[];

/** Enough to be signed and sent on a busy machine, and over before a transaction counts as stuck. */
const windowSeconds = 30;
/** From the crash on, with the start of what was killed. */
const sentWithinMs = 60_000;

type Place = (typeof cancelled | typeof replaced)[number];
const places: readonly Place[] = [...cancelled, ...replaced];
type Replaced = (typeof replaced)[number];
const isCancelled = (place: Place): boolean => cancelled.some((one) => one === place);

let payments: HeldPayments<Place>;
let settler: Address;

beforeAll(async () => {
  const more = ['prepare: COMMIT of a cancellation', 'prepare: COMMIT of a replacement'] as const;
  payments = await HeldPayments.install(places, { more });
  settler = await findSettler();
});
afterAll(async () => {
  await payments.holds.remove();
  expect(await recordDifferences()).toEqual([]);
});

/** Of the settler, in blocks. */
const sentBySettler = (): Promise<number> => devChain(paidOn().rpc).getTransactionCount({ address: settler });

/** What a seller is told as long as it may still be mined: no block is made. What was killed is not back at once. */
const askWhilePending = ({ body }: Payment<Place>): Promise<Settled> =>
  waitFor(
    async () => {
      const answer = await settleOnce(body, { Prefer: 'wait=1' });
      return answer.success === undefined ? undefined : answer;
    },
    { timeoutMs: sentWithinMs },
  );

/** The second attempt of each has taken the place of the first one in the chain's pool. */
async function secondIsSent(sent: readonly Payment<Place>[]): Promise<void> {
  const areSent = async () => {
    const rows = await gatewayQuery<{ to: string }>(
      `select t.to_address as to from transfer_attempts join transactions t using (tx_id)
        where t.to_address = any($1) and attempt = 2 and broadcast_at is not null`,
      [sent.map(({ payTo }) => payTo)],
    );
    const missing = sent.filter(({ payTo }) => !rows.some(({ to }) => to === payTo));
    if (missing.length > 0) throw new Error(`not sent: ${missing.map(({ place }) => place).join(', ')}`);
    return true;
  };
  await waitFor(areSent, { timeoutMs: sentWithinMs });
}

interface Crashed {
  sent: Payment<Place>[];
  whilePending: Settled[];
}

async function crashWith(victim: Victim, head: Replaced): Promise<Crashed> {
  await allRun();
  const chain = chainFaults(dataFolder(), paidChain);
  await chain.delay();
  try {
    const sent: Payment<Place>[] = [await payments.send(head)];
    await signedFirst(sent);
    for (const place of cancelled) sent.push(await payments.send(place, { seconds: windowSeconds }));
    await payments.reached(sent);
    kill(victim, 1);
    await delay(300);
    await payments.holds.releaseAll();
    const whilePending = await Promise.all(sent.map(askWhilePending));
    await secondIsSent(sent);
    return { sent, whilePending };
  } finally {
    await payments.holds.releaseAll();
    await chain.resume();
  }
}

/** Its nonce comes before those of what is sent then. */
async function signedFirst(sent: readonly Payment<Place>[]): Promise<void> {
  const haveNonces = async () =>
    (
      await gatewayQuery('select from transactions where to_address = any($1) and signing_begun_at is not null', [
        sent.map(({ payTo }) => payTo),
      ])
    ).length === sent.length;
  await waitFor(haveNonces, { timeoutMs: windowSeconds * 1_000, intervalMs: 50 });
}

/** How a payment and its settlement have ended. */
interface End {
  place: Place;
  answer: Settled;
  /** The same request, twice more. */
  again: Settled[];
  /** Atomic units, by its recipient. */
  received: bigint;
  settlements: Row[];
}

async function endOf({ place, payTo, body, answer }: Payment<Place>): Promise<End> {
  const first = await answer;
  const settlements = await settlementsTo(payTo);
  const again = [await settleOnce(body), await settleOnce(body)];
  return { place, answer: first, again, received: await usdcOf(payTo), settlements };
}

const expired: Row = {
  ...{ ...confirmed, status: 'FAILED', failure_code: 'expired' },
  ...{ attempts: ['first', 'cancellation'], executed: ['cancellation'] },
};
const replacedOnce: Row = { ...confirmed, attempts: ['first', 'replacement'], executed: ['replacement'] };

test.each<[Victim, Replaced]>([
  ['worker', 'prepare: a replacement'],
  ['worker', 'prepare: COMMIT of a replacement'],
  ['authoriser', 'prepare: COMMIT of a replacement'],
  ['all', 'prepare: a replacement'],
])(
  '%s killed at "%s", while what no block takes is cancelled: each nonce is used up once, and paid is what has time left',
  async (victim, head) => {
    const before = await sentBySettler();
    const { sent, whilePending } = await crashWith(victim, head);
    const hash: unknown = expect.stringMatching(/^0x/);
    expect(whilePending).toEqual(
      sent.map(() => expect.objectContaining({ success: false, errorReason: 'settlement_pending', transaction: hash })),
    );

    const ends = await Promise.all(sent.map(endOf));
    const failed = { success: false, errorReason: 'invalid_exact_evm_payload_authorization_valid_before', transaction: '' };
    expect(ends).toEqual(
      sent.map(({ place }, index) => ({
        ...{ place, again: [ends[index]?.answer, ends[index]?.answer] },
        ...(isCancelled(place)
          ? { answer: expect.objectContaining(failed), received: 0n, settlements: [expired] }
          : {
              ...{ answer: expect.objectContaining({ success: true, transaction: hash }), received: paid },
              settlements: [replacedOnce],
            }),
      })),
    );
    expect(await sentBySettler()).toBe(before + sent.length);
    expect(await ledgerDifferences()).toEqual([]);

    // the settler goes on
    expect(await settleOnce(await signed({ kind: 'eip3009', payer: await newPayer() }))).toMatchObject({ success: true });
    expect(await sentBySettler()).toBe(before + sent.length + 1);
  },
);
