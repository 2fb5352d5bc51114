import { toBase58 } from './codec/base58';
import { createReader } from './codec/reader';

/** Transactions of others, legacy or of version 0, as far as payments are found in them. */
export interface ForeignTransaction {
  /** Base58 of the first signature. */
  id: string;
  message: Buffer;
  /** Base58. */
  payer: string;
  /** Base58, the payer first. */
  signers: string[];
  /** Base58, the payer first; with those of lookup tables. */
  keys: string[];
}

const signatureBytes = 64;
const keyBytes = 32;

/** `loaded`: addresses from lookup tables, as the node shows them. @throws Error for bytes that are no transaction. */
export function readForeign(bytes: Buffer, loaded: string[]): ForeignTransaction {
  const reader = createReader(bytes);
  const signatures = reader.list(() => reader.take(signatureBytes));
  const [first] = signatures;
  if (!first) throw new Error('a transaction has no signature');
  const message = bytes.subarray(reader.position());
  const keys = readKeys(message);
  const [payer] = keys;
  if (payer === undefined) throw new Error('a transaction has no account');
  return { id: toBase58(first), message, payer, signers: keys.slice(0, signatures.length), keys: [...keys, ...loaded] };
}

/** The accounts that a message names itself, in Base58, the payer first. @throws Error for bytes that are no message. */
export function readKeys(message: Buffer): string[] {
  const reader = createReader(message);
  // the highest bit tells versions from the number of signers
  if ((message[0] ?? 0) >= 128) reader.take(1);
  reader.take(3);
  return reader.list(() => toBase58(reader.take(keyBytes)));
}
