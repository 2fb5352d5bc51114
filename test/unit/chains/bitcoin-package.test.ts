import { feesOf, poolLimits, toPackage, UnconfirmedTransactions } from '../../../src/chains/bitcoin/package';
import type { UnconfirmedTransaction } from '../../../src/chains/unconfirmed';

const transaction = (txId: string, parents: string[] = [], changes: Partial<UnconfirmedTransaction> = {}) => ({
  txId,
  parents,
  fee: 1_000n,
  size: 200,
  change: { resource: `${txId}:0`, amount: 5_000n },
  ...changes,
});
const spent = { change: null };
/** Each spends the change of the one before. */
const chain = (length: number, changes: Partial<UnconfirmedTransaction> = {}) =>
  Array.from({ length }, (_, index) =>
    transaction(`t${index}`, index === 0 ? [] : [`t${index - 1}`], { ...changes, ...(index < length - 1 && spent) }),
  );
const spendable = (all: UnconfirmedTransaction[]) => new UnconfirmedTransactions(all).spendable.map(({ maker }) => maker);

it('the limits are below those of Bitcoin Core, where what others make of a payment counts too', () => {
  expect(poolLimits.transactions).toBeLessThanOrEqual(25 / 2);
  expect(poolLimits.size).toBeLessThanOrEqual(101_000 / 2);
});

it('the biggest change comes first', () => {
  const change = { resource: 'big:0', amount: 9_000n };
  expect(spendable([transaction('a'), transaction('b', [], { change }), transaction('c', [], spent)])).toEqual(['b', 'a']);
});

it('a chain grows up to its limit, with the transaction that would be added', () => {
  expect(spendable(chain(poolLimits.transactions - 1))).toHaveLength(1);
  expect(spendable(chain(poolLimits.transactions))).toEqual([]);
});

it('descendants of an ancestor count, also those by another of its outputs', () => {
  const root = transaction('root', [], spent);
  const children = (count: number) => Array.from({ length: count }, (_, index) => transaction(`c${index}`, ['root']));
  expect(spendable([root, ...children(poolLimits.transactions - 2)])).toHaveLength(poolLimits.transactions - 2);
  expect(spendable([root, ...children(poolLimits.transactions - 1)])).toEqual([]);
});

it('sizes count', () => {
  const big = new UnconfirmedTransactions([transaction('a', [], { size: poolLimits.size - 100 })]);
  expect(big.hasRoom(['a'], 100n)).toBe(true);
  expect(big.hasRoom(['a'], 101n)).toBe(false);
});

it('ancestors are counted once, however they are reached', () => {
  const all = [transaction('a'), transaction('b', ['a']), transaction('c', ['a']), transaction('d', ['b', 'c'])];
  const ancestors = new UnconfirmedTransactions(all).ancestors(['d', 'b']);
  expect(ancestors.map(({ txId }) => txId).sort()).toEqual(['a', 'b', 'c', 'd']);
  expect(feesOf(ancestors)).toBe(4_000n);
});

it('a child pays what its ancestors lack at the rate, together and not each', () => {
  const [low, high] = [transaction('a', [], { fee: 200n }), transaction('b', ['a'], { fee: 2_800n })];
  expect(toPackage([low], 10n)).toEqual({ rate: 10n, deficit: 1_800n });
  expect(toPackage([low, high], 10n)).toEqual({ rate: 10n, deficit: 1_000n });
  expect(toPackage([low, high], 5n)).toEqual({ rate: 5n, deficit: 0n });
  expect(toPackage([], 5n)).toEqual({ rate: 5n, deficit: 0n });
});

it('of more than are looked at nothing is spent', () => {
  expect(spendable(Array.from({ length: 1_001 }, (_, index) => transaction(`t${index}`)))).toEqual([]);
});
