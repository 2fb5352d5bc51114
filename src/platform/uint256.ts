const maxUint256 = 2n ** 256n - 1n;
const decimal = /^\d{1,78}$/;
const hexadecimal = /^0x[0-9a-fA-F]{1,64}$/;

/** An unsigned integer of at most 256 bits, as a decimal or 0x string; null for anything else, numbers of JSON included: they round. */
export function parseUint256(value: unknown): bigint | null {
  if (typeof value !== 'string' || !(decimal.test(value) || hexadecimal.test(value))) return null;
  const parsed = BigInt(value);
  return parsed <= maxUint256 ? parsed : null;
}
