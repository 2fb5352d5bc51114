import { createReader } from '../codec/reader';

/** A transaction that somebody else has made and signed, legacy or of version 0, as its bytes say it. */
export interface OfferedTransaction {
  /** One for each signer, in the order of the keys; 64 bytes. */
  signatures: Buffer[];
  /** What is signed. */
  message: Buffer;
  /** Signers first, the fee payer before the others; without those of lookup tables. 32 bytes each. */
  keys: Buffer[];
  /** Of the block that it refers to. */
  blockhash: Buffer;
  instructions: OfferedInstruction[];
}

export interface OfferedInstruction {
  program: Buffer;
  accounts: Buffer[];
  data: Buffer;
}

/** `tables`: it names accounts by lookup tables, which a chain would have to be asked for. */
export type Offered = { transaction: OfferedTransaction } | { refused: 'tables' | 'malformed' };

const keyBytes = 32;
const signatureBytes = 64;
/** PACKET_DATA_SIZE of Solana. */
const maxBytes = 1_232;
const versionZero = 0x80;

/** @param text Base64, with padding: `transaction` of a payload */
export function readOffered(text: unknown): Offered {
  if (typeof text !== 'string' || text.length > 4 * Math.ceil(maxBytes / 3)) return { refused: 'malformed' };
  const bytes = Buffer.from(text, 'base64');
  // the decoder passes over letters that are not of the alphabet
  return bytes.toString('base64') === text ? readTransaction(bytes) : { refused: 'malformed' };
}

/** @param bytes in wire format */
export function readTransaction(bytes: Buffer): Offered {
  if (bytes.length > maxBytes) return { refused: 'malformed' };
  try {
    return read(bytes);
  } catch {
    return { refused: 'malformed' };
  }
}

/** As the network checks it before it executes anything (solana-message: legacy and versions/v0, `sanitize`). */
function read(bytes: Buffer): Offered {
  const reader = createReader(bytes);
  const signatures = reader.list(() => reader.take(signatureBytes));
  const message = bytes.subarray(reader.position());
  const [first] = reader.take(1);
  const isLegacy = (first as number) < versionZero;
  if (!isLegacy && first !== versionZero) throw new Error('the version is another one');
  const signers = isLegacy ? (first as number) : byte(reader);
  const [readonlySigners, readonlyOthers] = [byte(reader), byte(reader)];
  const keys = reader.list(() => reader.take(keyBytes));
  const blockhash = reader.take(keyBytes);
  const called = reader.list(() => ({
    program: byte(reader),
    accounts: [...reader.take(reader.length())],
    data: reader.take(reader.length()),
  }));
  const tables = isLegacy ? 0 : reader.length();
  if (readonlySigners >= signers || signers + readonlyOthers > keys.length) throw new Error('the header contradicts itself');
  if (signatures.length !== signers) throw new Error('each signer has a signature');
  if (tables > 0) return { refused: 'tables' };
  if (!reader.isAtEnd()) throw new Error('bytes follow the message');
  const key = (index: number): Buffer => {
    const found = keys[index];
    if (!found) throw new Error('an instruction names no account of the message');
    return found;
  };
  const instructions = called.map(({ program, accounts, data }) => {
    if (program === 0) throw new Error('the fee payer is no program');
    return { program: key(program), accounts: accounts.map(key), data };
  });
  return { transaction: { signatures, message, keys, blockhash, instructions } };
}

const byte = (reader: ReturnType<typeof createReader>): number => reader.take(1)[0] as number;
