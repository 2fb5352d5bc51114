import { toBase58 } from './codec/base58';
import { createReader } from './codec/reader';

/** Transactions of others, legacy or of version 0 or 1, as far as payments are found in them. */
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
/** The first byte of a message that is not legacy: the highest bit, and the version. */
const versionBit = 0x80;
const versionOne = 0x81;
/** The latest version that is read here, as nodes are told: they show no block with one that is later. */
export const latestVersion = versionOne - versionBit;

/** `loaded`: addresses from lookup tables, as the node shows them. @throws Error for bytes that are no transaction. */
export function readForeign(bytes: Buffer, loaded: string[]): ForeignTransaction {
  const { signatures, message } = bytes[0] === versionOne ? splitVersionOne(bytes) : split(bytes);
  const [first] = signatures;
  if (!first) throw new Error('a transaction has no signature');
  const keys = readKeys(message);
  const [payer] = keys;
  if (payer === undefined) throw new Error('a transaction has no account');
  return { id: toBase58(first), message, payer, signers: keys.slice(0, signatures.length), keys: [...keys, ...loaded] };
}

interface Split {
  signatures: Buffer[];
  message: Buffer;
}

function split(bytes: Buffer): Split {
  const reader = createReader(bytes);
  const signatures = reader.list(() => reader.take(signatureBytes));
  return { signatures, message: bytes.subarray(reader.position()) };
}

/** The message comes first, and says how many signatures follow it (SIMD-0385). */
function splitVersionOne(bytes: Buffer): Split {
  const end = bytes.length - signatureBytes * (bytes[1] ?? 0);
  if (end <= 0) throw new Error('a transaction ends too early');
  const reader = createReader(bytes.subarray(end));
  const signatures: Buffer[] = [];
  while (!reader.isAtEnd()) signatures.push(reader.take(signatureBytes));
  return { signatures, message: bytes.subarray(0, end) };
}

/** The accounts that a message names itself, in Base58, the payer first. @throws Error for bytes that are no message. */
export function readKeys(message: Buffer): string[] {
  const reader = createReader(message);
  const key = (): string => toBase58(reader.take(keyBytes));
  const [first = 0] = message;
  if (first > versionOne) throw new Error('a message is of a version that is not known');
  if (first < versionOne) {
    // a legacy message begins with its header
    reader.take(first === versionBit ? 4 : 3);
    return reader.list(key);
  }
  const [, count] = reader.take(headOfVersionOne).subarray(-2);
  return Array.from({ length: count as number }, key);
}

/** Version, header, which limits are stated (4), block hash (32), numbers of instructions and of accounts. */
const headOfVersionOne = 1 + 3 + 4 + 32 + 1 + 1;
