import { toBase58 } from './codec/base58';

/** Transactions of others, legacy or of version 0, as far as payments are found in them. */
export interface ForeignTransaction {
  /** Base58 of the first signature. */
  id: string;
  message: Buffer;
  /** Base58. */
  payer: string;
  /** Base58, the payer first; with those of lookup tables. */
  keys: string[];
}

const signatureBytes = 64;
const keyBytes = 32;

/** `loaded`: addresses from lookup tables, as the node shows them. @throws Error for bytes that are no transaction. */
export function readForeign(bytes: Buffer, loaded: string[]): ForeignTransaction {
  let position = 0;
  const take = (size: number): Buffer => {
    if (size > bytes.length - position) throw new Error('a transaction ends too early');
    position += size;
    return bytes.subarray(position - size, position);
  };
  const length = (): number => {
    let value = 0;
    for (let group = 0; group < 3; group += 1) {
      const byte = take(1)[0] as number;
      value |= (byte & 127) << (7 * group);
      if (byte < 128) return value;
    }
    throw new Error('a length of a transaction is out of range');
  };
  const signatures = Array.from({ length: length() }, () => take(signatureBytes));
  const [first] = signatures;
  if (!first) throw new Error('a transaction has no signature');
  const message = bytes.subarray(position);
  // the highest bit tells versions from the number of signers
  if ((message[0] ?? 0) >= 128) take(1);
  take(3);
  const keys = Array.from({ length: length() }, () => toBase58(take(keyBytes)));
  const [payer] = keys;
  if (payer === undefined) throw new Error('a transaction has no account');
  return { id: toBase58(first), message, payer, keys: [...keys, ...loaded] };
}
