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
