import { base58 } from '@scure/base';

/** Base58 without a checksum, as Solana shows keys, block hashes and signatures. */
export const toBase58 = (bytes: Uint8Array): string => base58.encode(bytes);

/** null for text that is not the Base58 form of exactly so many bytes. */
export function fromBase58(text: string, size: number): Buffer | null {
  // no byte takes more than two digits
  if (text.length > 2 * size) return null;
  try {
    const bytes = Buffer.from(base58.decode(text));
    return bytes.length === size ? bytes : null;
  } catch {
    return null;
  }
}

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const digits = new Map([...alphabet].map((letter, digit) => [letter.charCodeAt(0), digit]));
/** Digits that a number holds exactly: 58^9 is below 2^53. */
const groupSize = 9;

/** As `fromBase58` of 32 bytes, in hex, within a tenth of its time: a block has thousands of addresses. */
export function hexFromBase58(text: string): string | null {
  // 44 digits are enough for 32 bytes
  if (text.length > 44) return null;
  let value = 0n;
  for (let start = 0; start < text.length; start += groupSize) {
    let [group, base] = [0, 1];
    for (let at = start; at < Math.min(start + groupSize, text.length); at += 1) {
      const digit = digits.get(text.charCodeAt(at));
      if (digit === undefined) return null;
      group = group * 58 + digit;
      base *= 58;
    }
    value = value * BigInt(base) + BigInt(group);
  }
  const hex = value === 0n ? '' : value.toString(16);
  // each byte that is zero at the beginning is a letter of its own
  const zeros = text.length - text.replace(/^1+/, '').length;
  return zeros + Math.ceil(hex.length / 2) === 32 ? hex.padStart(64, '0') : null;
}
