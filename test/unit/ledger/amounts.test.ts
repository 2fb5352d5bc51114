import * as fc from 'fast-check';
import { formatAmount, parseAmount } from '../../../src/platform/money';
import { scaledLimit } from '../../../src/transfers/accept/limits';

const decimals = fc.integer({ min: 0, max: 36 });
const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });

test('atomic units survive display and back at every precision', () => {
  fc.assert(
    fc.property(uint256, decimals, (atomic, precision) => {
      const text = formatAmount(atomic, precision);
      expect(text).toMatch(/^(0|[1-9]\d*)(\.\d*[1-9])?$/);
      expect(parseAmount(text, precision)).toBe(atomic);
    }),
    { numRuns: 2000 },
  );
});

test('superfluous zeros have no effect, one significant decimal too many is refused', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 30n }), decimals, fc.nat(5), (atomic, precision, zeros) => {
      const text = formatAmount(atomic, precision);
      const padded = `${'0'.repeat(zeros)}${text}${text.includes('.') ? '' : '.0'}${'0'.repeat(zeros)}`;
      expect(parseAmount(padded, precision)).toBe(atomic);
      const [whole = '', fraction = ''] = text.split('.');
      expect(parseAmount(`${whole}.${fraction.padEnd(precision, '0')}1`, precision)).toBe('too_precise');
    }),
  );
});

test.each(['', ' 1', '1 ', '+1', '-1', '1e3', '1,5', '.5', '5.', '0x10', '١', 'NaN', '1_000', '1.2.3'])(
  '%j is no amount',
  (text) => {
    expect(parseAmount(text, 18)).toBe('format');
  },
);

test('refuses amounts beyond numeric(78,0)', () => {
  expect(parseAmount('9'.repeat(78), 0)).toBe(10n ** 78n - 1n);
  expect(parseAmount('9'.repeat(79), 0)).toBe('too_long');
  expect(parseAmount('9'.repeat(70), 18)).toBe('too_long');
});

test('a limit compares exactly with any amount', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 10n ** 40n }),
      fc.bigInt({ min: 0n, max: 10n ** 40n }),
      decimals,
      (limit, atomic, precision) => {
        const scaled = atomic * 10n ** BigInt(36 - precision);
        expect(scaled > scaledLimit(formatAmount(limit, precision))).toBe(atomic > limit);
      },
    ),
  );
});
