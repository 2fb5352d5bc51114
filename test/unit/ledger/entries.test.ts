import * as fc from 'fast-check';
import {
  creditDeposit,
  placeHold,
  reverseDeposits,
  settleHold,
  releaseHold,
  type Hold,
  type AccountBalance,
} from '../../../src/ledger/entries';
import type { Bucket, Entry } from '../../../src/ledger/posting';

const coin = (id: string, symbol: string, available = 0n, locked = 0n): AccountBalance => ({
  ledgerAccountId: id,
  chain: 'ethereum',
  symbol,
  available,
  locked,
});
const amount = fc.bigInt({ min: 0n, max: 10n ** 30n });

/** Holds of a token, and of the native coin that also pays the fee; `available` beyond what is locked. */
const holds: fc.Arbitrary<Hold> = fc
  .record({ amount, feeLocked: amount, tokenLeft: amount, nativeLeft: amount, same: fc.boolean() })
  .map((it) => {
    const native = coin('n', 'ETH', it.nativeLeft, it.feeLocked + (it.same ? it.amount : 0n));
    const token = it.same ? native : coin('t', 'USDC', it.tokenLeft, it.amount);
    return { token, native, amount: it.amount, feeLocked: it.feeLocked };
  });

const sum = (entries: Entry[], bucket: Bucket, symbol?: string): bigint =>
  entries
    .filter((it) => it.bucket === bucket && (symbol === undefined || it.symbol === symbol))
    .reduce((total, it) => total + it.amount, 0n);

/** Zero per symbol, no empty lines, and no account below zero afterwards. */
function check(entries: Entry[], accounts: AccountBalance[]): void {
  for (const symbol of ['ETH', 'USDC']) {
    expect(entries.filter((it) => it.symbol === symbol).reduce((total, it) => total + it.amount, 0n)).toBe(0n);
  }
  for (const entry of entries) expect(entry.amount).not.toBe(0n);
  for (const { symbol, available, locked } of accounts) {
    expect(available + sum(entries, 'AVAILABLE', symbol)).toBeGreaterThanOrEqual(0n);
    expect(locked + sum(entries, 'LOCKED', symbol)).toBeGreaterThanOrEqual(0n);
  }
}

test('lock and unlock are each other’s opposite', () => {
  fc.assert(
    fc.property(holds, (hold) => {
      const lines = (entries: Entry[], sign: bigint) =>
        entries.map((it) => `${it.ledgerAccountId} ${it.bucket} ${sign * it.amount}`).sort();
      expect(lines(placeHold(hold), -1n)).toEqual(lines(releaseHold(hold), 1n));
      expect(sum(releaseHold(hold), 'LOCKED')).toBe(-(hold.amount + hold.feeLocked));
      check(releaseHold(hold), [hold.token, hold.native]);
    }),
  );
});

test('settling any fact releases the whole hold, posts exactly what the chain took, and names every shortfall', () => {
  fc.assert(
    fc.property(holds, amount, amount, (hold, debited, fee) => {
      const { entries, shortfalls } = settleHold(hold, { debited, fee });
      check(entries, [hold.token, hold.native]);
      expect(sum(entries, 'LOCKED')).toBe(-(hold.amount + hold.feeLocked));
      expect(sum(entries, 'EXTERNAL')).toBe(debited);
      expect(sum(entries, 'FEES')).toBe(fee);
      expect(-sum(entries, 'LOSS')).toBe(shortfalls.reduce((total, it) => total + it.amount, 0n));
      // the house pays only when the balance of the client is zero
      for (const { symbol } of shortfalls) {
        const account = hold.token.symbol === symbol ? hold.token : hold.native;
        expect(account.available + sum(entries, 'AVAILABLE', symbol)).toBe(0n);
      }
    }),
    { numRuns: 1000 },
  );
});

test('within its bounds a transfer costs exactly amount and fee', () => {
  const token = coin('t', 'USDC', 0n, 10n);
  const native = coin('n', 'ETH', 0n, 9n);
  const { entries, shortfalls } = settleHold({ token, native, amount: 10n, feeLocked: 9n }, { debited: 10n, fee: 4n });
  expect(shortfalls).toEqual([]);
  expect(entries).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ bucket: 'LOCKED', symbol: 'USDC', amount: -10n }),
      expect.objectContaining({ bucket: 'EXTERNAL', symbol: 'USDC', amount: 10n }),
      expect.objectContaining({ bucket: 'LOCKED', symbol: 'ETH', amount: -9n }),
      expect.objectContaining({ bucket: 'AVAILABLE', symbol: 'ETH', amount: 5n }),
      expect.objectContaining({ bucket: 'FEES', symbol: 'ETH', amount: 4n }),
    ]),
  );
  expect(entries).toHaveLength(5);
});

test('deposits reversed together use the balance that the ones before have left', () => {
  fc.assert(
    fc.property(
      amount,
      fc.array(
        amount.filter((it) => it > 0n),
        { minLength: 1, maxLength: 5 },
      ),
      (available, amounts) => {
        const token = coin('t', 'USDC', available);
        const outcomes = reverseDeposits(amounts.map((it) => ({ token, amount: it })));
        const entries = outcomes.flatMap((it) => it.entries);
        check(entries, [token]);
        const total = amounts.reduce((a, b) => a + b, 0n);
        expect(sum(entries, 'EXTERNAL')).toBe(total);
        expect(-sum(entries, 'LOSS')).toBe(total > available ? total - available : 0n);
      },
    ),
  );
});

test('a deposit comes from the chain', () => {
  expect(creditDeposit(coin('t', 'USDC'), 7n).map(({ bucket, amount: it }) => [bucket, it])).toEqual([
    ['EXTERNAL', -7n],
    ['AVAILABLE', 7n],
  ]);
  expect(() => creditDeposit(coin('t', 'USDC'), -7n)).toThrow(RangeError);
});
