import { randomInt } from 'node:crypto';
import { EndpointFault } from '../endpoints';
import type { FeeStrategy } from '../family';
import { unreadableLevels } from '../fee-levels';
import type { ChainDefinition, FeeLevels, TokenDefinition } from '../types';
import type { TokenProgram } from './codec/programs';
import { maxPrice } from './codec/transaction';

/** What a chain asks now. */
export interface SolanaFeeLevels {
  /** Priority fee, millionths of a lamport for a compute unit, as recent blocks have taken it. */
  price: bigint;
}

/** Lamports for each signature (Solana's documents, "Fee structure"). */
export const signatureFee = 5_000n;
const millionths = 1_000_000n;
/** 3,480 lamports for a byte and year, two years, and 128 bytes for the account itself (solana-rent). */
const rentOf = (bytes: bigint): bigint => (128n + bytes) * 6_960n;
/**
 * Rent of a token account, lamports. Of the Token program it has 165 bytes, which cost 2,039,280. Of Token-2022 it has 170 and a few more for
 * extensions that its mint demands: room for 256, and what does not fit is not prepared.
 */
export const accountRent: Readonly<Record<TokenProgram, bigint>> = { token: rentOf(165n), 'token-2022': rentOf(256n) };

/** Rent of an account without data, lamports: a fee payer that is left with less, and not with nothing, pays for no transaction. */
export const minimumBalance = rentOf(0n);

interface MessageCost {
  /** Limit of compute units: the priority fee is paid for all of it. */
  units: number;
  price: bigint;
  /** The program whose token account may be created; null: none. */
  creates: TokenProgram | null;
  /** 1 where it is not said. */
  signatures?: number;
}

/** Most that a message can cost its payer besides the payment, lamports (get_prioritization_fee rounds up). */
export const maxFee = ({ units, price, creates, signatures = 1 }: MessageCost): bigint =>
  signatureFee * BigInt(signatures) +
  (BigInt(units) * price + millionths - 1n) / millionths +
  (creates ? accountRent[creates] : 0n);

/** Limits for a bound, before a simulation says what is needed: with memo and a token account to create. */
const usualUnits = { native: 60_000, token: 120_000 };
/** The price of a later attempt may be higher than that of now. */
const headroom = 3n;

export const encodeLevels = ({ price }: SolanaFeeLevels): FeeLevels => ({ price: price.toString() });

/** @throws GatewayError chain_unavailable for levels that encodeLevels has not made. */
function decodeLevels({ price }: FeeLevels): SolanaFeeLevels {
  if (typeof price !== 'string' || !/^\d{1,18}$/.test(price)) throw unreadableLevels('a Solana chain');
  return { price: BigInt(price) };
}

/** Prices that a payment may offer instead of the usual one: with the most units of a usual payment 600 lamports more. */
export const priceSpread = 5_000;

/** Millionths of a lamport for a compute unit: no message offers more, whatever the random part of its price is. */
export const highestPrice = maxPrice - BigInt(priceSpread - 1);

/**
 * A node that reports more for payments of any accounts is at fault, or lies: no message would be signed at that price. Millionths of a lamport
 * for a compute unit. @throws EndpointFault for a price above the highest that is offered.
 */
export function assertBelievable(price: bigint): void {
  if (price > highestPrice) throw new EndpointFault('fees_not_believed', `a priority fee of ${price} is not believed`);
}

/**
 * The price that a message offers. Payments of the same amount to the same recipient that refer to the same block would be one message,
 * which the chain executes once: a random part of the price tells them apart. What others pay to write to the same accounts is capped: anybody can
 * raise it for a while, and a payment at the highest price is better than none.
 */
export const distinctPrice = (usual: bigint): bigint =>
  (usual < highestPrice ? usual : highestPrice) + BigInt(randomInt(priceSpread));

/** Whether the recipient has a token account is asked when an attempt is prepared: the bound has its rent. */
function bound(_chain: ChainDefinition, { contract }: TokenDefinition, levels: FeeLevels): bigint {
  const raised = decodeLevels(levels).price * headroom;
  const price = raised < maxPrice ? raised : maxPrice;
  if (contract === null) return maxFee({ units: usualUnits.native, price, creates: null });
  return maxFee({ units: usualUnits.token, price, creates: 'token-2022' });
}

export const solanaFees: FeeStrategy = { bound };
