import { setTimeout as delay } from 'node:timers/promises';
import type { NodeIndex } from '../../src/messages/nodes';
import { formatAmount } from '../../src/platform/money';
import { gatewayQuery } from '../adversary/processes';
import { recordDifferences } from '../adversary/records';
import { ledgerDifferences } from '../e2e/ledger';
import { allSettlers } from '../e2e/payers';
import { type Account, balances, ends, fundedAccount, transactionWhen } from '../e2e/support';
import { randomAddress } from '../factories';
import { sharedWallet, stack } from '../stack/client';
import type { BreakpointName } from './breakpoints';
import type { HeldGap } from './gaps';
import { Holds } from './holds';
import { NodeHolds } from './node-holds';
import { type Accepted, carryOut, handedOut, paidAmount, type Payload, signPayment, usdcAt } from './signing';
import { confirmedTimeline, statusesOf } from './transfer';
import { allRun, kill, type Victim } from './victims';

/**
 * Payments that a client authorises, each of an account of its own between two steps, while one part is killed. Each is signed once, and
 * carried out once by whoever has got it, or it expires.
 */

const reachMs = 90_000;

/** In the order in which they are sent: what holds the follower keeps those after it from being seen on the chain. */
const carriedOut = ['settle: settleTransfer', 'confirm: storeInclusion'] as const satisfies HeldGap[];
const midway = [
  'prepare: enterSigning',
  'broadcast: recordSigned',
  'broadcast: markBroadcast',
  'broadcast: markSubmitted',
] as const satisfies HeldGap[];
/** Held by the nodes. */
const atNodes = 'sign: signTransaction';
const last = ['accept: insert', 'accept: COMMIT', 'start: remove the message'] as const satisfies HeldGap[];
/** Nobody carries it out: of the first round, on a chain of its own. */
const expiring = 'confirm: failByProof' satisfies BreakpointName;

const places = [...carriedOut, ...midway, atNodes, ...last] as const;
type Place = (typeof places)[number] | typeof expiring;

interface Payment {
  place: Place;
  chain: 'base' | 'ethereum';
  account: Account;
  payTo: string;
  accepted: Promise<Accepted>;
  /** Handed out before anything was killed. */
  before?: Payload;
}

let holds: Holds;
let nodes: NodeHolds;
let accounts: Map<Place, Account>;
let unused: Payment | undefined;

beforeAll(async () => {
  await sharedWallet();
  // nodes that generate the key of the house do not sign in time
  await allSettlers();
  const ofPlace = async (place: Place, chain: string) => [place, await fundedAccount(chain, { USDC: '1' })] as const;
  accounts = new Map(await Promise.all([...places.map((place) => ofPlace(place, 'base')), ofPlace(expiring, 'ethereum')]));
  holds = await Holds.install(stack().postgres.url, { more: [expiring] });
  nodes = await NodeHolds.install();
  unused = await send(expiring, { chain: 'ethereum', seconds: 10 });
}, 1_500_000);
afterAll(async () => {
  await holds.remove();
  await nodes.remove();
  expect(await recordDifferences()).toEqual([]);
});

/** Long enough for a round, unless it is to expire. */
async function send(
  place: Place,
  { chain = 'base', seconds = 600, prefer }: { chain?: Payment['chain']; seconds?: number; prefer?: string } = {},
): Promise<Payment> {
  const account = accountOf(place);
  const payTo = randomAddress();
  if (place !== atNodes) await holds.hold(place, account.address);
  const accepted = signPayment(account, { chain, payTo, seconds, ...(prefer && { prefer }) });
  // a round that fails does not await it
  accepted.catch(() => undefined);
  return { place, chain, account, payTo, accepted };
}

function accountOf(place: Place): Account {
  const account = accounts.get(place);
  if (!account) throw new Error(`${place} has no account`);
  return account;
}

async function sendCarriedOut(place: (typeof carriedOut)[number]): Promise<Payment> {
  const payment = await send(place);
  const before = await handedOut((await payment.accepted).txId);
  await carryOut(payment.chain, before);
  return { ...payment, before };
}

/** Its journal entries are the next ones of the nodes. */
async function sendToNodes(): Promise<Payment> {
  const beforeSigning = 'prepare: enterSigning';
  const { address } = accountOf(atNodes);
  await holds.hold(beforeSigning, address);
  const payment = await send(atNodes, { prefer: 'respond-async' });
  await nodes.hold((await payment.accepted).txId);
  await holds.release(beforeSigning, address);
  return payment;
}

/** @throws Error naming where nobody is. */
async function reached(payments: readonly Payment[]): Promise<void> {
  const isAsked = payments.some(({ place }) => place === atNodes);
  const held = payments.flatMap(({ place, account: { address } }) => (place === atNodes ? [] : [{ gap: place, address }]));
  for (const until = Date.now() + reachMs; ; await delay(50)) {
    const missing: string[] = (await holds.notReached(held)).map(({ gap }) => gap);
    if (isAsked && !(await nodes.waiting())) missing.push(atNodes);
    if (missing.length === 0) return;
    if (Date.now() > until) throw new Error(`not reached: ${missing.join(', ')}`);
  }
}

/** One payment in every place, and the victim killed. */
async function crashWith(victim: Victim): Promise<Payment[]> {
  await allRun();
  const payments: Payment[] = [];
  const add = async (...sent: Promise<Payment>[]) => {
    payments.push(...(await Promise.all(sent)));
    await reached(payments);
  };
  try {
    for (const place of carriedOut) await add(sendCarriedOut(place));
    await add(...midway.map((place) => send(place)));
    await add(sendToNodes());
    if (unused) await add(Promise.resolve(unused));
    unused = undefined;
    await add(...last.map((place) => send(place)));
    kill(victim, (await nodes.waiting()) as NodeIndex);
    await delay(300);
  } finally {
    await Promise.all([holds.releaseAll(), nodes.releaseAll()]);
  }
  return payments;
}

async function expectEnd({ place, chain, account, payTo, accepted, before }: Payment): Promise<void> {
  const { txId, txIds, answer, askAgain } = await accepted;
  const isPaid = place !== expiring;
  if (isPaid) {
    const payload = await handedOut(txId);
    if (before) expect({ place, payload }).toEqual({ place, payload: before });
    else await carryOut(chain, payload);
  }
  const ended = await transactionWhen(txId, ends, 150_000);
  const timeline = isPaid ? confirmedTimeline : ['PENDING', 'SIGNING', 'SUBMITTED', 'FAILED'];
  const code = isPaid ? undefined : 'expired';
  expect({ place, timeline: statusesOf(ended), code: ended.failure?.code }).toEqual({ place, timeline, code });
  expect({ place, received: await usdcAt(chain, payTo) }).toEqual({ place, received: isPaid ? paidAmount : 0n });
  const attempts = await gatewayQuery<{ kind: string }>('select kind from transfer_attempts where tx_id = $1', [txId]);
  expect({ place, attempts }).toEqual({ place, attempts: [{ kind: 'first' }] });
  const { USDC } = await balances(account.account_id, chain);
  const onChain = formatAmount(await usdcAt(chain, account.address), 6);
  expect({ place, ...USDC }).toEqual({ place, balance: onChain, locked_balance: '0' });
  expect({ place, answer: await askAgain(), txIds: [...txIds] }).toEqual({ place, answer, txIds: [txId] });
}

test.each<Victim>(['all', 'worker', 'authoriser', 'mpc'])(
  '%s killed: every payment is signed once, and ends as it should',
  async (victim) => {
    await Promise.all((await crashWith(victim)).map(expectEnd));
    expect(await ledgerDifferences()).toEqual([]);
  },
);
