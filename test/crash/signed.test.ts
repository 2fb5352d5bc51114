import { setTimeout as delay } from 'node:timers/promises';
import type { NodeIndex } from '../../src/messages/nodes';
import { formatAmount } from '../../src/platform/money';
import { gatewayQuery } from '../adversary/processes';
import { recordDifferences } from '../adversary/records';
import { gateway } from '../e2e/gateway';
import { ledgerDifferences } from '../e2e/ledger';
import { findSettler } from '../e2e/payers';
import { type Account, balances, call, fundedAccount, transactionWhen } from '../e2e/support';
import { randomAddress } from '../factories';
import { sharedWallet, stack } from '../stack/client';
import { pause, resumeAll } from '../stack/pause';
import { type BreakpointName, heldAddress } from './breakpoints';
import type { Gap } from './gap';
import { gapOf, type GapName } from './gaps';
import { Holds } from './holds';
import { NodeHolds } from './node-holds';
import { list, reachMs } from './scene';
import { type Accepted, carryOut, handedOut, paidAmount, type Payload, signPayment, usdcAt } from './signing';
import { confirmedTimeline, statusesOf } from './transfer';
import { allRun, kill, type Victim, victims } from './victims';

/**
 * A payment that a client authorises in every gap between two steps, each of an account of its own, while one part is killed. Each is
 * signed once, and carried out once by whoever has got it, or it expires.
 */

/** In the order in which they are sent: what holds the follower keeps those after it from being seen on the chain. */
const carriedOut = ['settle: settleTransfer', 'confirm: storeInclusion'] as const;
const midway = [
  'lock: adoptHold',
  'screen: screenTransfer',
  'prepare: beginSigning',
  'prepare: enterSigning',
  'prepare: issue the order',
  'sign: recordSigned',
  'broadcast: markBroadcast',
  'broadcast: markSubmitted',
] as const;
const last = ['accept: insert', 'accept: COMMIT', 'start: ask Temporal', 'start: remove the message'] as const;
/** Nobody carries it out. */
const expiring = 'confirm: failByProof';
/** Held otherwise than in the gateway's database. */
const atNodes = 'sign: signTransaction';
const atChain = 'prepare: prepareAttempt';

const held = [...carriedOut, ...midway, ...last, expiring] as const;
const places = [...held, atNodes, atChain] as const;
type Place = (typeof places)[number];
type HeldPlace = (typeof held)[number];

const ofNoGap = { [expiring]: 'ethereum', 'prepare: issue the order': 'base' } as const;
/** `base` is paused while one of its payments is prepared: nothing on it may have to go on then. */
const chainOf = (place: Place): Gap['chain'] =>
  place in ofNoGap ? ofNoGap[place as keyof typeof ofNoGap] : gapOf(place as GapName).chain;

/** Long enough for a round; what expires is sent a round before it is wanted. */
const seconds = { usual: 600, expiring: 20 };

interface Payment {
  place: Place;
  account: Account;
  payTo: string;
  accepted: Promise<Accepted>;
  /** Handed out before anything was killed. */
  before?: Payload;
}

let holds: Holds;
let nodes: NodeHolds;
let accounts: Map<Place, Account>;
/** Of the next round. */
let nextExpiring: Payment | undefined;
/** In turn. */
let expiringAccounts: Account[];

beforeAll(async () => {
  expect(await gateway(['client', 'policy', 'demo', '--whitelist', 'approve', '--cooling', '0'])).toMatchObject({ code: 0 });
  await sharedWallet();
  // nodes that generate the key of the house do not sign in time
  await findSettler();
  const create = (place: Place) => fundedAccount(chainOf(place), { USDC: '1' });
  const [created, others] = await Promise.all([
    Promise.all(places.map(async (place) => [place, await create(place)] as const)),
    Promise.all([1, 2].map(() => create(expiring))),
  ]);
  accounts = new Map(created);
  expiringAccounts = others;
  holds = await Holds.install(stack().postgres.url, { withReads: true, more: ['prepare: issue the order', expiring] });
  nodes = await NodeHolds.install();
  nextExpiring = await sendExpiring(0);
}, 400_000);
afterAll(async () => {
  await release();
  await holds.remove();
  await nodes.remove();
  await gateway(['client', 'policy', 'demo', '--whitelist', 'off']);
  expect(await recordDifferences()).toEqual([]);
}, 240_000);

async function release(): Promise<void> {
  resumeAll();
  const except = nextExpiring?.account.address;
  await Promise.all([holds.releaseAll({ except }), nodes.releaseAll()]);
}

async function send(place: Place, account = accounts.get(place) as Account): Promise<Payment> {
  const payTo = randomAddress();
  const chain = chainOf(place);
  await list('WHITELIST', account, chain, payTo);
  if (isHeld(place)) await holds.hold(place, addressOf(place, account, payTo));
  const accepted = signPayment(account, chain, payTo, place === expiring ? seconds.expiring : seconds.usual);
  // a round that fails does not await it
  accepted.catch(() => undefined);
  return { place, account, payTo, accepted };
}

/** One that expires until the next round. */
async function sendExpiring(round: number): Promise<Payment> {
  const payment = await send(expiring, expiringAccounts[round % expiringAccounts.length]);
  payment.before = await handedOut((await payment.accepted).txId);
  return payment;
}

const isHeld = (place: Place): place is HeldPlace => (held as readonly Place[]).includes(place);
const addressOf = (place: HeldPlace, { address }: Account, payTo: string): string =>
  heldAddress(place, { sender: address, recipient: payTo });

/** @throws Error naming where nobody is. */
async function reached(payments: readonly Payment[]): Promise<void> {
  for (const until = Date.now() + reachMs; ; await delay(50)) {
    const missing = await elsewhere(payments);
    if (missing.length === 0) return;
    if (Date.now() > until) throw new Error(`not reached: ${missing.join(', ')}`);
  }
}

async function elsewhere(payments: readonly Payment[]): Promise<string[]> {
  const inDatabase = payments.flatMap(({ place, account, payTo }) =>
    isHeld(place) ? [{ gap: place satisfies BreakpointName, address: addressOf(place, account, payTo) }] : [],
  );
  const atOther = await Promise.all(
    payments.map(async (payment) => {
      if (payment.place === atNodes) return (await nodes.waiting()) ? [] : [atNodes];
      return payment.place === atChain && !(await isPreparing(payment)) ? [atChain] : [];
    }),
  );
  const passed = (await holds.notReached(inDatabase)).map(({ gap }) => gap);
  return [...passed, ...atOther.flat()];
}

async function isPreparing({ account }: Payment): Promise<boolean> {
  const txId = await findTxId(account);
  // not accepted yet
  if (txId === undefined) return false;
  const { body } = await call('GET', `/transactions/${txId}`);
  return body.status === 'PENDING' && (body.live as { step?: string } | null)?.step === 'prepare';
}

/** Of its newest payment, whatever its client has been answered; undefined: none is accepted. */
async function findTxId({ address }: Account): Promise<string | undefined> {
  const sql = 'select tx_id from transactions where from_address = $1 order by tx_id desc limit 1';
  return (await gatewayQuery<{ tx_id: string }>(sql, [address]))[0]?.tx_id;
}

async function sendCarriedOut(place: (typeof carriedOut)[number]): Promise<Payment> {
  const payment = await send(place);
  payment.before = await handedOut((await payment.accepted).txId);
  await carryOut(chainOf(place), payment.before);
  return payment;
}

/** Its journal entries are the next ones of the nodes. */
async function sendToNodes(): Promise<Payment> {
  const beforeSigning = 'prepare: enterSigning';
  const account = accounts.get(atNodes) as Account;
  await holds.hold(beforeSigning, account.address);
  const payment = await send(atNodes);
  await holds.reached(beforeSigning, reachMs, account.address);
  await nodes.hold((await findTxId(account)) as string);
  await holds.release(beforeSigning, account.address);
  return payment;
}

/** One payment in every gap, and the victim killed. */
async function crashWith(victim: Victim, round: number): Promise<Payment[]> {
  await allRun();
  const payments = nextExpiring ? [nextExpiring] : [];
  const add = async (sent: readonly Promise<Payment>[]) => {
    payments.push(...(await Promise.all(sent)));
    await reached(payments);
  };
  try {
    for (const place of carriedOut) await add([sendCarriedOut(place)]);
    await add(midway.map((place) => send(place)));
    await add([sendToNodes()]);
    nextExpiring = victim === victims.at(-1) ? undefined : await sendExpiring(round + 1);
    pause(`chain:${chainOf(atChain)}`);
    await add([send(atChain)]);
    await add(last.map((place) => send(place)));
    kill(victim, (await nodes.waiting()) as NodeIndex);
    await delay(300);
  } finally {
    await release();
  }
  return payments;
}

async function expectEnd({ place, account, payTo, accepted, before }: Payment): Promise<void> {
  const { txId, txIds } = await accepted;
  const chain = chainOf(place);
  expect({ place, txIds: [...txIds] }).toEqual({ place, txIds: [txId] });
  const isPaid = place !== expiring;
  if (isPaid) {
    const payload = await handedOut(txId);
    if (before) expect({ place, payload }).toEqual({ place, payload: before });
    else await carryOut(chain, payload);
  }
  const ended = await transactionWhen(txId, ['CONFIRMED', 'FAILED', 'CANCELLED', 'REJECTED'], 150_000);
  const timeline = isPaid ? confirmedTimeline : [...confirmedTimeline.slice(0, -1), 'FAILED'];
  expect({ place, timeline: statusesOf(ended), code: ended.failure?.code }).toEqual({
    ...{ place, timeline, code: isPaid ? undefined : 'expired' },
  });
  expect({ place, received: await usdcAt(chain, payTo) }).toEqual({ place, received: isPaid ? paidAmount : 0n });
  const attempts = await gatewayQuery<{ kind: string }>('select kind from transfer_attempts where tx_id = $1', [txId]);
  expect({ place, attempts }).toEqual({ place, attempts: [{ kind: 'first' }] });
  const { USDC } = await balances(account.account_id, chain);
  const onChain = formatAmount(await usdcAt(chain, account.address), 6);
  expect({ place, balance: USDC?.balance, locked: USDC?.locked_balance }).toEqual({ place, balance: onChain, locked: '0' });
}

test.each(victims.map((victim, round) => [victim, round] as const))(
  '%s killed: every payment is signed once, and ends as it should',
  async (victim, round) => {
    await Promise.all((await crashWith(victim, round)).map(expectEnd));
    expect(await ledgerDifferences()).toEqual([]);
  },
  400_000,
);
