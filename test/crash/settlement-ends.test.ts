import { setTimeout as delay } from 'node:timers/promises';
import { gatewayQuery } from '../adversary/processes';
import { recordDifferences } from '../adversary/records';
import { ledgerDifferences } from '../e2e/ledger';
import { usdcOf } from '../e2e/payers';
import type { BreakpointName } from './breakpoints';
import { HeldPayments, paid, type Payment, repeated } from './held-payments';
import { confirmed, type Row, settlementsTo } from './settlement-rows';
import type { Settled } from './settling';
import { allRun, kill, type Victim } from './victims';

/**
 * Settlements within the COMMIT of a step, and those whose payment somebody else has carried out meanwhile, while one part is killed: every
 * payment is made once, and every settlement ends once, charged for what it has cost.
 */

/** Held in this order. Whoever commits an end has locked the ledger account of the settler: one of them in a round. */
const committing = [
  'settle: COMMIT as confirmed',
  'broadcast: COMMIT of markSubmitted',
  'accept: COMMIT',
] as const satisfies BreakpointName[];
/** Sent, and reverted by the chain; what holds the follower comes after what it has to see. */
const reverted = ['settle: COMMIT as failed', 'confirm: storeInclusion'] as const satisfies BreakpointName[];
/** Refused by the chain before anything was signed. */
const refused = ['prepare: recordRefusal', 'end: COMMIT of endTransfer'] as const satisfies BreakpointName[];

type Place = (typeof committing | typeof reverted | typeof refused)[number];
const places: readonly Place[] = [...committing, ...reverted, ...refused];

let payments: HeldPayments<Place>;

beforeAll(async () => {
  const ofGaps: readonly Place[] = ['accept: COMMIT', 'confirm: storeInclusion'];
  const more = places.filter((place) => !ofGaps.includes(place));
  payments = await HeldPayments.install(places, { withReads: true, more });
});
afterAll(async () => {
  await payments.holds.remove();
  expect(await recordDifferences()).toEqual([]);
});

interface Twin extends Payment<Place> {
  /** Of the same request, sent while the first one was about to be committed. */
  twin?: Promise<Settled>;
}

/** The second of two requests for one payment: it waits for the claim of the first one, and is refused when that is committed. */
async function isTwinWaiting(): Promise<boolean> {
  const waiting = await gatewayQuery(
    `select from pg_locks l where l.locktype = 'transactionid' and not l.granted and exists (
       select from pg_locks t where t.pid = l.pid and t.relation = 'x402_settlements'::regclass and t.mode = 'RowExclusiveLock')`,
  );
  return waiting.length > 0;
}

async function fillCommitting(sent: Twin[]): Promise<void> {
  for (const place of committing) {
    const payment = await payments.send(place);
    sent.push(place === 'accept: COMMIT' ? { ...payment, twin: repeated(payment.body) } : payment);
    if (place !== 'accept: COMMIT') await payments.reached(sent);
  }
  await payments.reached(sent, isTwinWaiting);
}

async function fillUsed(sent: Twin[]): Promise<void> {
  const add = async (payment: Promise<Payment<Place>>) => {
    sent.push(await payment);
    await payments.reached(sent);
  };
  for (const place of reverted) await add(payments.sendUsed(place, 'prepare: enterSigning'));
  for (const place of refused) await add(payments.sendUsed(place, 'lock: adoptHold'));
}

async function crashWith(victim: Victim, fill: (sent: Twin[]) => Promise<void>): Promise<Twin[]> {
  await allRun();
  const sent: Twin[] = [];
  try {
    await fill(sent);
    kill(victim, 1);
    await delay(300);
  } finally {
    await payments.holds.releaseAll();
  }
  return sent;
}

/** How a payment and its settlement have ended. */
interface End {
  place: Place;
  answers: Pick<Settled, 'success' | 'errorReason'>[];
  /** Atomic units, by its recipient. */
  received: bigint;
  settlements: Row[];
}

async function endOf({ place, payTo, answer, twin }: Twin): Promise<End> {
  const answers = (await Promise.all([answer, ...(twin ? [twin] : [])])).map(({ success, errorReason }) => ({
    success,
    errorReason,
  }));
  return { place, answers, received: await usdcOf(payTo), settlements: await settlementsTo(payTo) };
}

const failed: Row = { ...confirmed, status: 'FAILED', failure_code: 'reverted_on_chain' };
const unsigned: Row = { ...failed, failure_code: 'would_revert', attempts: [], executed: [], charges: 0, is_released: true };

test.each<Victim>(['api', 'worker', 'all'])(
  '%s killed while a step is committed: every payment is made once, and each of its requests answered so',
  async (victim) => {
    const ends = await Promise.all((await crashWith(victim, fillCommitting)).map(endOf));
    const success = { success: true, errorReason: undefined };
    expect(ends).toEqual(
      committing.map((place) => ({
        ...{ place, received: paid, settlements: [confirmed] },
        answers: place === 'accept: COMMIT' ? [success, success] : [success],
      })),
    );
    expect(await ledgerDifferences()).toEqual([]);
  },
);

test.each<Victim>(['worker', 'all'])(
  '%s killed while it is recorded that somebody else has used the payment: failed, once',
  async (victim) => {
    const ends = await Promise.all((await crashWith(victim, fillUsed)).map(endOf));
    // what nothing was signed for has freed its payment, which is verified once more when it is asked for again
    const reason = /^invalid_exact_evm_(transaction_simulation_failed|nonce_already_used)$/;
    const answered = (errorReason: unknown) => [{ success: false, errorReason }];
    expect(ends).toEqual([
      ...reverted.map((place) => ({
        ...{ place, received: paid, settlements: [failed] },
        answers: answered('invalid_exact_evm_transaction_failed'),
      })),
      ...refused.map((place) => ({
        ...{ place, received: paid, settlements: [unsigned] },
        answers: answered(expect.stringMatching(reason)),
      })),
    ]);
    expect(await ledgerDifferences()).toEqual([]);
  },
);
