/** Base58 without a checksum, as Solana shows keys, block hashes and signatures. */

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** Each leading zero byte is a leading 1. */
export function toBase58(bytes: Uint8Array): string {
  const zeros = bytes.findIndex((byte) => byte !== 0);
  if (zeros < 0) return '1'.repeat(bytes.length);
  let rest = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  let text = '';
  for (; rest > 0n; rest /= 58n) text = `${alphabet[Number(rest % 58n)]}${text}`;
  return '1'.repeat(zeros) + text;
}

/** null for text that is not the Base58 form of exactly so many bytes. */
export function fromBase58(text: string, size: number): Buffer | null {
  // no byte takes more than two digits
  if (text.length > 2 * size) return null;
  let number = 0n;
  for (const letter of text) {
    const digit = alphabet.indexOf(letter);
    if (digit < 0) return null;
    number = number * 58n + BigInt(digit);
  }
  const hex = number.toString(16).padStart(2 * size, '0');
  if (hex.length !== 2 * size) return null;
  const bytes = Buffer.from(hex, 'hex');
  // leading ones that stand for no byte, and missing ones
  return toBase58(bytes) === text ? bytes : null;
}
