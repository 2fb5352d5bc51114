import { EndpointFault } from '../endpoints';
import type { FeeStrategy } from '../family';
import { unreadableLevels } from '../fee-levels';
import type { ChainDefinition, FeeLevels, Hex, IntentAction, TokenDefinition, TransactionIntent } from '../types';
import { feesIn, maxGas } from './codec/transaction';
import type { GasFees } from './details';
import { maxSettlementGas } from './payments/calldata';

/** Prices of one transaction, per gas. */
export type PlannedFees = Omit<GasFees, 'gasLimit'>;

/** Fee levels of an EVM chain; atomic units of the native coin per gas. */
export interface EvmFeeLevels {
  /** null: blocks have no base fee (no EIP-1559). */
  baseFee: bigint | null;
  priorityFee: bigint | null;
  /** Legacy gas price. */
  gasPrice: bigint;
  /** Upper estimate of the L1 data fee of one transfer; 0 where there is none. */
  l1DataFee: bigint;
}

export const encodeLevels = ({ baseFee, priorityFee, gasPrice, l1DataFee }: EvmFeeLevels): FeeLevels => ({
  baseFee: baseFee?.toString() ?? null,
  priorityFee: priorityFee?.toString() ?? null,
  gasPrice: gasPrice.toString(),
  l1DataFee: l1DataFee.toString(),
});

/** @throws GatewayError chain_unavailable for levels that encodeLevels has not made. */
export function decodeLevels({ baseFee, priorityFee, gasPrice, l1DataFee }: FeeLevels): EvmFeeLevels {
  const read = (value: unknown): bigint => {
    if (typeof value !== 'string' || !/^\d{1,78}$/.test(value)) throw unreadableLevels('an EVM chain');
    return BigInt(value);
  };
  const readOptional = (value: unknown) => (value === null ? null : read(value));
  return {
    baseFee: readOptional(baseFee),
    priorityFee: readOptional(priorityFee),
    gasPrice: read(gasPrice),
    l1DataFee: read(l1DataFee),
  };
}

/**
 * A node that reports more than the registry takes for possible is at fault, or lies: what it says would be signed, and held of the
 * account's coins.
 * @throws EndpointFault for a price or tip above the chain's `highestFeeLevels`, and an L1 data fee above its `maxNetworkFee`.
 */
export function assertBelievable({ highestFeeLevels, maxNetworkFee }: ChainDefinition, levels: EvmFeeLevels): void {
  const read = (name: string) => {
    const value = highestFeeLevels?.[name];
    return typeof value === 'string' ? BigInt(value) : null;
  };
  const [price, tip] = [read('gasPrice'), read('priorityFee')];
  const isAbove = (value: bigint | null, limit: bigint | null): boolean => value !== null && limit !== null && value > limit;
  const wrong = [
    ...(isAbove(levels.baseFee, price) ? [`a base fee of ${levels.baseFee}`] : []),
    ...(isAbove(levels.gasPrice, price) ? [`a gas price of ${levels.gasPrice}`] : []),
    ...(isAbove(levels.priorityFee, tip) ? [`a tip of ${levels.priorityFee}`] : []),
    ...(isAbove(levels.l1DataFee, maxNetworkFee) ? [`an L1 data fee of ${levels.l1DataFee}`] : []),
  ];
  if (wrong.length > 0) throw new EndpointFault('fees_not_believed', `${wrong.join(' and ')} is not believed`);
}

/** Exact gas of a plain value transfer to an account without code. */
const nativeGas = 21_000n;
/** USDC behind its proxy and a first-time recipient take about 65,000. */
const tokenGas = 100_000n;
/** Headroom for replacements, as a factor on the highest fee of the first attempt: enough for five at 12.5 % each. */
const replacementHeadroom = 2n;
/** The L1 price rises by an eighth per block at most; twice its estimate covers several minutes of that. */
const l1Headroom = 2n;

/** Nodes require 10 % (go-ethereum, Nethermind) to 12.5 % (Erigon's pool, Polygon): the higher one, rounded up. */
const raised = (fee: bigint): bigint => (fee * 1125n + 999n) / 1000n;
const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);
const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);
/** A legacy price or a tip of zero could never be raised by a percentage. */
const atLeastOne = (fee: bigint): bigint => max(fee, 1n);

/** Highest price of one unit of gas. */
const highest = ({ maxFeePerGas, gasPrice }: PlannedFees): bigint => maxFeePerGas ?? gasPrice ?? 0n;

/**
 * The fee cap stays sufficient for six full blocks in a row (EIP-1559 raises the base fee by at most an eighth a block: 1.125^6 ≈
 * 2).
 */
function current({ baseFee, priorityFee, gasPrice }: EvmFeeLevels): PlannedFees {
  if (baseFee === null)
    return { maxFeePerGas: null, maxPriorityFeePerGas: null, gasPrice: atLeastOne(gasPrice + gasPrice / 10n) };
  const tip = atLeastOne(priorityFee ?? max(gasPrice - baseFee, 0n));
  return { maxFeePerGas: 2n * baseFee + tip, maxPriorityFeePerGas: tip, gasPrice: null };
}

/**
 * Fees of the next attempt: the current levels, and for a replacement enough above `previous` (its unsigned bytes) for every node.
 */
export function planFees(levels: EvmFeeLevels, previous: Hex | null): PlannedFees {
  const now = current(levels);
  if (previous === null) return now;
  const before = feesIn(previous);
  // A node compares cap with cap and tip with tip; a legacy price counts as both (EIP-1559). The kind of the first attempt is kept,
  // so that a node that stopped reporting base fees does not change what is compared.
  if (before.gasPrice !== null) {
    return { maxFeePerGas: null, maxPriorityFeePerGas: null, gasPrice: max(highest(now), raised(before.gasPrice)) };
  }
  const tip = max(now.maxPriorityFeePerGas ?? 1n, raised(before.maxPriorityFeePerGas ?? 0n));
  const cap = max(highest(now), raised(highest(before)));
  return { maxFeePerGas: max(cap, tip), maxPriorityFeePerGas: tip, gasPrice: null };
}

/**
 * Whether these fees are above the least that may take the place of `previous`, in cap or tip: the levels of the chain have risen. A tip may rise
 * while the base fee falls. `next` is of the kind of `previous`, as planFees makes it.
 */
export function isAboveStep(previous: Hex, next: PlannedFees): boolean {
  const before = feesIn(previous);
  const isTipAbove = (next.maxPriorityFeePerGas ?? 0n) > raised(before.maxPriorityFeePerGas ?? 0n);
  return isTipAbove || highest(next) > raised(highest(before));
}

const bound = (chain: ChainDefinition, token: TokenDefinition, levels: FeeLevels): bigint =>
  boundOf(chain, assumedGas(token), levels);

/** Highest fee of a transaction that is assumed to need so much gas; atomic units of the native coin. */
export function boundOf(chain: ChainDefinition, assumed: bigint, levels: FeeLevels): bigint {
  const now = decodeLevels(levels);
  const gas = assumed + BigInt(chain.estimateOverhead ?? 0);
  return gas * highest(current(now)) * replacementHeadroom + now.l1DataFee * l1Headroom;
}

/** Gas that is assumed when funds are locked, before the chain is asked: nobody knows what it takes to create a payer's wallet. */
export function assumedGas(token: TokenDefinition, action?: IntentAction): bigint {
  if (action?.type === 'settlement' && action.deployment) return maxSettlementGas;
  return token.contract === null ? nativeGas : tokenGas;
}

/** Highest gas limit of what an intent is to do; of a settlement with the gas that the chain's estimates contain beside its execution. */
export const highestGas = ({ estimateOverhead = 0 }: ChainDefinition, { action }: TransactionIntent): bigint =>
  action ? maxSettlementGas + BigInt(estimateOverhead) : maxGas;

/**
 * Gas limit from an estimate, with as much margin as `highest` leaves; never below that of the replaced attempt. A plain transfer has a
 * fixed cost; any other call may find different storage when it is executed.
 */
export function gasLimitFrom(estimate: bigint, previous: Hex | null, highest: bigint): bigint {
  const limit = estimate <= nativeGas ? nativeGas : min(estimate + estimate / 4n, highest);
  return previous === null ? limit : max(limit, feesIn(previous).gasLimit);
}

/** EIP-1559 with twice the base fee as cap, legacy prices (EIP-155) where blocks have no base fee. */
export const evmFees: FeeStrategy = { bound };
