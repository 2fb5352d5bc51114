import { EndpointFault } from '../endpoints';
import type { FeeStrategy } from '../family';
import { unreadableLevels } from '../fee-levels';
import type { ChainDefinition, FeeLevels, Hex } from '../types';
import { decode, getFee, getVirtualSize } from './codec/transaction';
import { virtualSize } from './sizes';

/** Headroom for replacements: a fee is raised by a quarter at least. */
const headroom = { times: 5n, of: 2n };
const raise = { times: 5n, of: 4n };

/** `rate`: satoshis per virtual byte. */
export const encodeLevels = (rate: bigint): FeeLevels => ({ rate: rate.toString() });

/** @throws GatewayError chain_unavailable for levels that encodeLevels has not made. */
export function decodeLevels({ rate }: FeeLevels): bigint {
  if (typeof rate !== 'string' || !/^\d{1,18}$/.test(rate)) throw unreadableLevels('a Bitcoin chain');
  return BigInt(rate);
}

const roundUp = (amount: bigint, { times, of }: { times: bigint; of: bigint }): bigint => (amount * times + of - 1n) / of;

/** The rate for which fees are locked; satoshis per virtual byte. */
export const toBoundRate = (levels: FeeLevels): bigint => roundUp(decodeLevels(levels), headroom);

/** Satoshis per virtual byte: the highest rate that a transaction of usual size within the chain's cap can have. */
export const highestRate = ({ maxNetworkFee }: Pick<ChainDefinition, 'maxNetworkFee'>): bigint => maxNetworkFee / typicalSize;

/**
 * A node that reports a rate at which no transaction is made is at fault, or lies. Satoshis per virtual byte.
 * @throws EndpointFault for one above the highest of the chain.
 */
export function assertBelievable(chain: ChainDefinition, rate: bigint): void {
  if (rate > highestRate(chain)) throw new EndpointFault('fees_not_believed', `a fee rate of ${rate} is not believed`);
}

/**
 * Of the next attempt: the current rate, and for a replacement more than the dearest of the earlier attempts in fee and in rate. Nodes
 * compare both (BIP-125 and Bitcoin Core, doc/policy/mempool-replacements.md), and a replacement with more inputs is bigger.
 */
export function planRate(current: bigint, previous: readonly Hex[]): { rate: bigint; outbid: bigint } {
  const earlier = previous.map(decode);
  if (earlier.length === 0) return { rate: current, outbid: 0n };
  const outbid = earlier.map(getFee).reduce(max);
  const rate = earlier.map((transaction) => getFee(transaction) / getVirtualSize(transaction)).reduce(max) + 1n;
  return { rate: max(current, rate), outbid: roundUp(outbid, raise) };
}

const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/** One input of a P2WPKH address, a payment and change of the longest standard scripts. */
const typicalSize = virtualSize(1, [new Uint8Array(34), new Uint8Array(22)]);

export const bitcoinFees: FeeStrategy = { bound: (_chain, _token, levels) => toBoundRate(levels) * typicalSize };
