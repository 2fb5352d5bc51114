import { setTimeout as delay } from 'node:timers/promises';
import type { Address, PrivateKeyAccount } from 'viem';
import type { JsonObject } from '../../src/chains/types';
import { findSettler, newPayer, paidChain } from '../e2e/payers';
import { randomAddress } from '../factories';
import { stack, waitFor } from '../stack/client';
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
    await this.holds.hold(place, this.addressIn(place));
    const payTo = randomAddress() as Address;
    const validBefore = String(Math.floor(Date.now() / 1000) + seconds);
    const changes = { 'authorization.to': payTo, 'terms.payTo': payTo, 'authorization.validBefore': validBefore };
    const body = await signed({ kind: 'eip3009', payer: this.payers.get(place) as PrivateKeyAccount, changes });
    return { place, payTo, body, answer: repeated(body) };
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
    const held = payments.map(({ place }) => ({ gap: place, address: this.addressIn(place) }));
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
