import { createHash } from 'node:crypto';
import { createBase58check } from '@scure/base';

export const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

/** Base58Check (Bitcoin wiki, "Base58Check encoding"): the checksum is the beginning of SHA-256, twice. */
const base58check = createBase58check(sha256);

export const toBase58Check = (payload: Uint8Array): string => base58check.encode(payload);

/** Whether the end of a text is the checksum of what is before it. */
export function hasChecksum(text: string): boolean {
  try {
    base58check.decode(text);
    return true;
  } catch {
    return false;
  }
}

/** null for text that is not the Base58Check of so many bytes. */
export function fromBase58Check(text: string, size: number): Buffer | null {
  // a byte has less than one and a half digits
  if (text.length > 2 * size) return null;
  try {
    const payload = Buffer.from(base58check.decode(text));
    return payload.length === size ? payload : null;
  } catch {
    return null;
  }
}
