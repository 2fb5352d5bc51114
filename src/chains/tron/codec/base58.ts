import { createHash } from 'node:crypto';

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const checksumBytes = 4;

export const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

const checksum = (payload: Uint8Array): Buffer => sha256(sha256(payload)).subarray(0, checksumBytes);

/** Base58Check of bytes whose first one is not zero (Bitcoin wiki, "Base58Check encoding"). */
export function toBase58Check(payload: Uint8Array): string {
  let rest = BigInt(`0x${Buffer.concat([payload, checksum(payload)]).toString('hex')}`);
  let text = '';
  for (; rest > 0n; rest /= 58n) text = `${alphabet[Number(rest % 58n)]}${text}`;
  return text;
}

/** null for text that is not the Base58Check of so many bytes, of which the first is not zero. */
export function fromBase58Check(text: string, size: number): Buffer | null {
  // a byte has less than one and a half digits
  if (text.length > 2 * size) return null;
  let number = 0n;
  for (const letter of text) {
    const digit = alphabet.indexOf(letter);
    if (digit < 0) return null;
    number = number * 58n + BigInt(digit);
  }
  const hex = number.toString(16).padStart(2 * (size + checksumBytes), '0');
  const bytes = Buffer.from(hex, 'hex');
  const payload = bytes.subarray(0, size);
  const isWhole = bytes.length === size + checksumBytes && checksum(payload).equals(bytes.subarray(size));
  // leading zeros have many forms
  return isWhole && toBase58Check(payload) === text ? payload : null;
}
