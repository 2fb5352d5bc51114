const amountPattern = /^\d+(\.\d+)?$/;
/** numeric(78,0) holds every uint256. */
const maxDigits = 78;
const maxAtomic = 10n ** BigInt(maxDigits) - 1n;

export type AmountProblem = 'format' | 'too_long' | 'too_precise';

/**
 * Parses an amount in display units ("1.5") to atomic units (1500000n with 6 decimals). Zero is accepted; the caller decides whether it
 * is allowed. Returns the problem instead of throwing, since only the caller knows the name of the field.
 */
export function parseAmount(text: string, decimals: number): bigint | AmountProblem {
  if (!amountPattern.test(text)) return 'format';
  const [whole = '', fraction = ''] = text.split('.');
  const significant = withoutTrailingZeros(fraction);
  if (significant.length > decimals) return 'too_precise';
  if (whole.length + significant.length > maxDigits) return 'too_long';
  const atomic = BigInt(whole + significant.padEnd(decimals, '0'));
  return atomic > maxAtomic ? 'too_long' : atomic;
}

/** In linear time: a regular expression would take quadratic time for a text with many zeros that do not end it. */
function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return digits.slice(0, end);
}

/** Formats atomic units as a decimal string in display units: no exponent, no superfluous zeros; negative values have a sign. */
export function formatAmount(atomic: bigint, decimals: number): string {
  const digits = (atomic < 0n ? -atomic : atomic).toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return `${atomic < 0n ? '-' : ''}${whole}${fraction ? `.${fraction}` : ''}`;
}
