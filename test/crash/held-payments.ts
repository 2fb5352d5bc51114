import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Address, Hex, PrivateKeyAccount } from 'viem';
import type { JsonObject } from '../../src/chains/types';
import { findSettler, newPayer, paidChain } from '../e2e/payers';
import { randomAddress } from '../factories';
import { fund, stack, waitFor } from '../stack/client';
import { change } from '../unit/x402/bodies';
import { walletFactory, walletOf, wrapSignature } from '../wallet-factory';
import { signed } from '../x402';
import type { BreakpointName } from './breakpoints';
import { Holds } from './holds';
import { reachMs } from './scene';
import { settle, settleOnce, type Settled } from './settling';
import { carryOut, type Payload } from './signing';

/** Atomic units of USDC. */
export const paid = 1_000n;

export interface Payment<Place extends BreakpointName = BreakpointName> {
  place: Place;
  payer: Address;
  payTo: Address;
  body: JsonObject;
  /** What the client was answered in the end. */
  answer: Promise<Settled>;
}

/** Payments that a seller has settled, each between two steps, of a payer of its own by which it is held. */
export class HeldPayments<Place extends BreakpointName> {
  private constructor(
    readonly holds: Holds,
    private readonly payers: ReadonlyMap<Place, PrivateKeyAccount>,
  ) {}

  /** Resolves when payments are settled. */
  static async install<Place extends BreakpointName>(
    places: readonly Place[],
    options: Parameters<typeof Holds.install>[1] = {},
  ): Promise<HeldPayments<Place>> {
    await findSettler();
    const payers = new Map(await Promise.all(places.map(async (place) => [place, await newPayer()] as const)));
    const [first] = places;
    if (first === undefined) throw new Error('nothing is held');
    const payer = payers.get(first) as PrivateKeyAccount;
    // the settler's coins have to be credited
    const isSettled = async () => (await settleOnce(await signed({ kind: 'eip3009', payer }))).success;
    await waitFor(isSettled, { timeoutMs: 180_000, intervalMs: 500 });
    return new HeldPayments(await Holds.install(stack().postgres.url, options), payers);
  }

  addressIn(place: Place): Address {
    const payer = this.payers.get(place);
    if (!payer) throw new Error(`${place} has no payer`);
    return payer.address;
  }

  /** It will wait at its place. `seconds`: how long it can be carried out; usually for longer than a round. */
  async send(place: Place, { seconds = 600 } = {}): Promise<Payment<Place>> {
    const payer = this.addressIn(place);
    const draft = await this.draft(place, payer, seconds);
    return { place, ...draft, answer: repeated(draft.body) };
  }

  /** The same, from a wallet of the payer that its settlement creates (ERC-6492); another one each time. */
  async sendCreating(place: Place): Promise<Payment<Place>> {
    const { address, data } = await walletOf(this.addressIn(place), randomUUID());
    await fund(paidChain, 'USDC', address, '1');
    const draft = await this.draft(place, address, 600);
    const { signature } = (draft.body.paymentPayload as { payload: { signature: Hex } }).payload;
    const body = change(draft.body, { 'payload.signature': wrapSignature(walletFactory, data, signature) });
    return { place, ...draft, body, answer: repeated(body) };
  }

  private async draft(place: Place, payer: Address, seconds: number): Promise<Pick<Payment, 'payer' | 'payTo' | 'body'>> {
    await this.holds.hold(place, payer);
    const payTo = randomAddress() as Address;
    const validBefore = String(Math.floor(Date.now() / 1000) + seconds);
    const changes = { 'authorization.validBefore': validBefore };
    const owner = this.payers.get(place) as PrivateKeyAccount;
    return { payer, payTo, body: await signed({ kind: 'eip3009', payer: owner, from: payer, payTo, changes }) };
  }

  /** The same; what its payer has signed is carried out by somebody else before it comes to `before`, which is over then. */
  async sendUsed(place: Place, before: BreakpointName): Promise<Payment<Place>> {
    const address = this.addressIn(place);
    await this.holds.hold(before, address);
    const payment = await this.send(place);
    await this.holds.reached(before, reachMs, address);
    await carryOut(paidChain, (payment.body.paymentPayload as JsonObject).payload as unknown as Payload);
    await this.holds.release(before, address);
    return payment;
  }

  /** Resolves while all of them wait at their places. @throws Error naming where nobody is. */
  async reached(payments: readonly Payment<Place>[], also: () => Promise<boolean> = () => Promise.resolve(true)): Promise<void> {
    const held = payments.map(({ place, payer }) => ({ gap: place, address: payer }));
    for (const until = Date.now() + reachMs; ; await delay(50)) {
      const isElsewhere = !(await also());
      const missing = (await this.holds.notReached(held)).map(({ gap }) => gap);
      if (missing.length === 0 && !isElsewhere) return;
      if (Date.now() > until)
        throw new Error(`not reached: ${[...missing, ...(isElsewhere ? ['something else'] : [])].join(', ')}`);
    }
  }
}

/**
 * The answer to a seller who repeats the request, and who waits for long: what a killed process has not begun is not cancelled meanwhile. A
 * round that fails does not await it.
 */
export function repeated(body: JsonObject): Promise<Settled> {
  const answer = settle(body, { Prefer: 'wait=70' });
  answer.catch(() => undefined);
  return answer;
}
