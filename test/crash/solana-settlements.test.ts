import { setTimeout as delay } from 'node:timers/promises';
import { ed25519 } from '@noble/curves/ed25519.js';
import { address, createKeyPairSignerFromPrivateKeyBytes, createSolanaRpc } from '@solana/kit';
import { isLitesvmInstalled } from '../../dev/solana-chain';
import { LocalChainClient } from '../../dev/solana/stack';
import type { JsonObject } from '../../src/chains/types';
import { recordDifferences } from '../adversary/records';
import { gatewayQuery } from '../adversary/processes';
import { ledgerDifferences } from '../e2e/ledger';
import { fund, stack, waitFor } from '../stack/client';
import { bodyOf, type Holder, limit, memo, offer, pay, price, terms } from '../unit/x402/solana/scene';
import { usdc } from '../solana-chain';
import type { BreakpointName } from './breakpoints';
import type { HeldGap } from './gaps';
import { repeated } from './held-payments';
import { Holds } from './holds';
import { reachMs } from './scene';
import { confirmed, settlementsTo } from './settlement-rows';
import { settleOnce, type Settled } from './settling';
import { allRun, kill } from './victims';

/**
 * Settlements on Solana, one in every gap that its row tells, each of a payer of its own, while all of the gateway is killed: each payment is made
 * once, or has failed once, by the proof that it never can be.
 */

const chain = 'solana';
/** Nobody takes it into a block, and its proof is found. */
const expiring = 'confirm: failByProof' satisfies BreakpointName;
/** In the order in which they are sent: what holds the follower keeps those after it from being included. */
const whileBlocksAreMade = [['settle: settleTransfer'], ['confirm: storeInclusion']] as const satisfies HeldGap[][];
/** A block hash is good for 150 blocks: none is made until the gateway runs again. */
const whileChainStandsStill = [
  ['prepare: enterSigning', 'broadcast: recordSigned', 'broadcast: markBroadcast', 'broadcast: markSubmitted'],
  ['start: remove the message', 'accept: COMMIT', 'accept: insert'],
] as const satisfies HeldGap[][];
const places: readonly (HeldGap | typeof expiring)[] = [...whileBlocksAreMade.flat(), ...whileChainStandsStill.flat(), expiring];
type Place = (typeof places)[number];

/** Atomic units of USDC: what is paid, and what a recipient has before, which gives it an account. */
const [paid, before] = [1_000n, 1_000_000n];

interface Payment {
  place: Place;
  payTo: string;
  answer: Promise<Settled>;
}

let holds: Holds;
let settler: string;
let local: LocalChainClient;
let payers: Map<Place, Holder>;
let sellers: Map<Place, string>;

const rpc = () => createSolanaRpc(stack().chains[chain]?.rpc ?? '');

async function makeHolder(): Promise<Holder> {
  const secret = ed25519.utils.randomSecretKey();
  const signer = await createKeyPairSignerFromPrivateKeyBytes(secret);
  await fund(chain, 'USDC', signer.address, '1');
  return { secret, signer, address: signer.address };
}

/** The body of /settle, on the newest final block. */
async function bodyFor(payer: Holder, payTo: string): Promise<JsonObject> {
  const scene = { payer, seller: address(payTo), settler: { ...payer, address: address(settler) } };
  const { blockhash } = (await rpc().getLatestBlockhash({ commitment: 'finalized' }).send()).value;
  const instructions = [limit(), price(), await pay(scene), memo(crypto.randomUUID())];
  const payload = { transaction: offer({ ...scene, blockhash }, { instructions }) };
  return bodyOf(2, payload, terms(scene, 2));
}

async function send(place: Place): Promise<Payment> {
  const [payer, payTo] = [payers.get(place) as Holder, sellers.get(place) as string];
  await holds.hold(place, payer.address);
  return { place, payTo, answer: repeated(await bodyFor(payer, payTo)) };
}

/** Resolves while all of them wait at their places. @throws Error naming where nobody is. */
async function reached(payments: readonly Payment[]): Promise<void> {
  const held = payments.map(({ place }) => ({ gap: place, address: payers.get(place)?.address }));
  for (const until = Date.now() + reachMs; ; await delay(50)) {
    const missing = (await holds.notReached(held)).map(({ gap }) => gap);
    if (missing.length === 0) return;
    if (Date.now() > until) throw new Error(`not reached: ${missing.join(', ')}`);
  }
}

/** Blocks are made without it, as long as it could be in one, and as many as a proof needs. */
async function sendExpiring(): Promise<Payment> {
  await local.faults.delay();
  const payment = await send(expiring);
  const isSent = async () =>
    (await gatewayQuery(`select from transactions where to_address = $1 and status = 'SUBMITTED'`, [payment.payTo])).length > 0;
  await waitFor(isSent, { timeoutMs: reachMs });
  await local.call('expire', {});
  await local.faults.mine(100);
  await local.faults.resume();
  return payment;
}

async function usdcOf(owner: string): Promise<bigint> {
  const { value } = await rpc()
    .getTokenAccountsByOwner(address(owner), { mint: address(usdc) }, { encoding: 'jsonParsed' })
    .send();
  return value.reduce((sum, { account }) => sum + BigInt(account.data.parsed.info.tokenAmount.amount), 0n);
}

// skipped: this machine has no package of the local chain
(isLitesvmInstalled() ? describe : describe.skip)('settlements on Solana, all of the gateway killed', () => {
  const payments: Payment[] = [];

  beforeAll(async () => {
    settler = await waitFor(() => stack().settlers[chain], { timeoutMs: 900_000, intervalMs: 500 });
    local = new LocalChainClient(stack().chains[chain]?.rpc ?? '');
    const made = await Promise.all(places.map(async (place) => [place, await makeHolder(), await makeHolder()] as const));
    payers = new Map(made.map(([place, payer]) => [place, payer]));
    sellers = new Map(made.map(([place, , { address: payTo }]) => [place, payTo]));
    const [first, other] = [await makeHolder(), await makeHolder()];
    // the settler's coins have to be credited, and what was given has to be final
    const isSettled = async () => (await settleOnce(await bodyFor(first, other.address), { Prefer: 'wait=60' })).success;
    await waitFor(isSettled, { timeoutMs: 180_000, intervalMs: 500 });
    holds = await Holds.install(stack().postgres.url, { more: [expiring] });
    await allRun();
    try {
      payments.push(await sendExpiring());
      await reached(payments);
      for (const phase of whileBlocksAreMade) {
        payments.push(...(await Promise.all(phase.map(send))));
        await reached(payments);
      }
      await local.faults.delay();
      for (const phase of whileChainStandsStill) {
        payments.push(...(await Promise.all(phase.map(send))));
        await reached(payments);
      }
      kill('all', 1);
      await delay(300);
    } finally {
      await holds.releaseAll();
      await allRun();
      await local.faults.resume();
    }
  }, 1_500_000);

  afterAll(async () => {
    await holds.remove();
    expect(await recordDifferences()).toEqual([]);
    expect(await ledgerDifferences()).toEqual([]);
  });

  const paymentAt = (place: Place): Payment => {
    const found = payments.find((payment) => payment.place === place);
    if (!found) throw new Error(`${place} has no payment`);
    return found;
  };

  test.each(places.filter((place) => place !== expiring))('%s: paid once, and answered with its transaction', async (place) => {
    const { payTo, answer } = paymentAt(place);
    expect(await answer).toMatchObject({ success: true, transaction: expect.stringMatching(/^\w{64,88}$/) as string });
    expect(await settlementsTo(payTo)).toEqual([confirmed]);
    expect(await usdcOf(payTo)).toBe(before + paid);
  });

  test(`${expiring}: failed once, and nothing is paid`, async () => {
    const { payTo, answer } = paymentAt(expiring);
    expect(await answer).toMatchObject({ success: false, errorReason: 'invalid_exact_svm_transaction_failed' });
    const failed = { ...confirmed, status: 'FAILED', failure_code: 'expired', executed: [], charges: 0 };
    expect(await settlementsTo(payTo)).toEqual([failed]);
    expect(await usdcOf(payTo)).toBe(before);
  });
});
