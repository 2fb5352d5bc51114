import { GatewayError } from '../../platform/errors';
import { EndpointFault } from '../endpoints';
import { isJsonObject } from '../json';
import type { ChainDefinition, FeeLevels, Hex, TokenDefinition } from '../types';
import type { FeeStrategy } from '../family';
import { unreadableLevels } from '../fee-levels';
import type { Parameters } from './parameters';

/** What the network's committee has set, and how dear the tokens' contracts are now. */
export interface TronFeeLevels {
  /** Sun for a byte that no bandwidth pays. */
  bandwidthPrice: bigint;
  /** Sun for a unit of energy that no stake pays. */
  energyPrice: bigint;
  /** Sun for a recipient that is new to the chain: for its account, and in place of the bytes' price. */
  newAccountFee: bigint;
  /** Sun for a memo. */
  memoFee: bigint;
  /** By contract: what its energy may be multiplied by soon, in ten-thousandths above one (dynamic energy model). */
  penalties: ReadonlyMap<string, bigint>;
}

const one = 10_000n;

export const encodeLevels = ({ bandwidthPrice, energyPrice, newAccountFee, memoFee, penalties }: TronFeeLevels): FeeLevels => ({
  bandwidthPrice: bandwidthPrice.toString(),
  energyPrice: energyPrice.toString(),
  newAccountFee: newAccountFee.toString(),
  memoFee: memoFee.toString(),
  penalties: Object.fromEntries([...penalties].map(([contract, penalty]) => [contract, penalty.toString()])),
});

/** @throws GatewayError chain_unavailable for levels that encodeLevels has not made. */
export function decodeLevels({ bandwidthPrice, energyPrice, newAccountFee, memoFee, penalties }: FeeLevels): TronFeeLevels {
  if (!isJsonObject(penalties)) throw unreadableLevels('a Tron chain');
  return {
    bandwidthPrice: readAmount(bandwidthPrice),
    energyPrice: readAmount(energyPrice),
    newAccountFee: readAmount(newAccountFee),
    memoFee: readAmount(memoFee),
    penalties: new Map(Object.entries(penalties).map(([contract, penalty]) => [contract, readAmount(penalty)])),
  };
}

function readAmount(value: unknown): bigint {
  if (typeof value !== 'string' || !/^\d{1,18}$/.test(value)) throw unreadableLevels('a Tron chain');
  return BigInt(value);
}

/** Ten-thousandths: what a committee may set at most (org.tron.core.Constant of java-tron, DYNAMIC_ENERGY_INCREASE_FACTOR_RANGE and …_MAX_…). */
const penaltyRange = { penaltyIncrease: 10_000n, highestPenalty: 100_000n };

/**
 * A node that reports more than the registry takes for possible, or than the protocol allows, is at fault, or lies: what it says would be
 * signed, and held of the account's coins.
 * @throws EndpointFault for what is above the chain's `highestFeeLevels`, or beyond the protocol's range.
 */
export function assertBelievable({ highestFeeLevels }: ChainDefinition, parameters: Parameters): void {
  const limits = new Map<string, bigint>(Object.entries(penaltyRange));
  for (const [name, limit] of Object.entries(highestFeeLevels ?? {})) limits.set(name, readAmount(limit));
  const wrong = Object.entries(parameters).filter(([name, value]: [string, bigint]) => value > (limits.get(name) ?? value));
  if (wrong.length > 0) throw notBelieved(wrong.map(([name, value]: [string, bigint]) => `${name} ${value}`).join(' and '));
}

/** @throws EndpointFault for a contract's penalty beyond the protocol's range. */
export function assertPenalty(penalty: bigint): void {
  if (penalty > penaltyRange.highestPenalty) throw notBelieved(`a penalty of ${penalty}`);
}

const notBelieved = (what: string): EndpointFault => new EndpointFault('fees_not_believed', `${what} is not believed`);

/** Of a transfer to a first-time holder, without the penalty; USDT takes 29,650. */
const tokenEnergy = 40_000n;
/** Of signed transfers as they are billed: TRX take 268 bytes, USDT 345 to 350. */
const usualBytes = { native: 300n, token: 400n };
/** One signature with its field, and the length of raw_data. */
const envelopeBytes = 70n;
/** Room for the result, which is billed too (Constant.MAX_RESULT_SIZE_IN_TX of java-tron). */
const resultBytes = 64n;
/** Number and length of the field with the memo. */
const memoFieldBytes = 3n;

export const billedBytes = (unsigned: Hex): bigint => BigInt((unsigned.length - 2) / 2) + envelopeBytes + resultBytes;

/** `energy`: without a penalty. */
export const withPenalty = (energy: bigint, penalty: bigint): bigint => (energy * (one + penalty) + one - 1n) / one;

/** The contract's penalty by what a call of it has taken, of which `penalised` was penalty; ten-thousandths. */
export const penaltyOf = (energy: bigint, penalised: bigint): bigint =>
  energy > penalised ? (penalised * one + (energy - penalised) - 1n) / (energy - penalised) : 0n;

/** What a penalty may become at the next of the maintenances, which are every six hours (ContractStateCapsule of java-tron). */
export function nextPenalty(penalty: bigint, { increase, highest }: { increase: bigint; highest: bigint }): bigint {
  const next = ((one + penalty) * (one + increase)) / one - one;
  return next < highest ? next : highest > penalty ? highest : penalty;
}

/**
 * All of it is burnt, although the account may have bandwidth and energy: another transaction may take these before. A reissue follows
 * only what has cost nothing.
 */
function bound({ name }: ChainDefinition, { symbol, contract }: TokenDefinition, levels: FeeLevels): bigint {
  const { bandwidthPrice, energyPrice, newAccountFee, penalties } = decodeLevels(levels);
  if (contract === null) return usualBytes.native * bandwidthPrice + newAccountFee;
  const penalty = penalties.get(contract);
  // registered since they were stored
  if (penalty === undefined)
    throw new GatewayError('chain_unavailable', `The fees of ${symbol} on ${name} are currently not known`, {
      retryAfterSeconds: 15,
    });
  return usualBytes.token * bandwidthPrice + withPenalty(tokenEnergy, penalty) * energyPrice;
}

/** What a memo costs in addition: the fee for it, and the bandwidth of its bytes. */
export function memoCost(levels: FeeLevels, memo: string): bigint {
  const { bandwidthPrice, memoFee } = decodeLevels(levels);
  return memoFee + (BigInt(Buffer.byteLength(memo)) + memoFieldBytes) * bandwidthPrice;
}

export const tronFees: FeeStrategy = { bound };
