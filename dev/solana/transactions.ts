/** Transactions as they are on the wire. */
import { createHash } from 'node:crypto';
import {
  getAddressDecoder,
  getBase58Decoder,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  type Transaction,
} from '@solana/kit';
import { maxTransactionBytes } from './parameters';

/** The bytes are no transaction, or one of a version that is not known. */
export class Malformed extends Error {}

interface Lookup {
  table: string;
  writable: readonly number[];
  readonly: readonly number[];
}

export interface Message {
  version: 'legacy' | 0;
  header: { numSignerAccounts: number; numReadonlySignerAccounts: number; numReadonlyNonSignerAccounts: number };
  keys: string[];
  blockhash: string;
  instructions: { program: number; accounts: readonly number[]; data: Uint8Array }[];
  lookups: Lookup[];
}

export interface Decoded {
  bytes: Buffer;
  transaction: Transaction;
  /** Base58, in the order of the signers. */
  signatures: string[];
  /** The first signature. */
  id: string;
  /** What the status cache knows it by: the hash of the message, whoever signed it. */
  messageKey: string;
  message: Message;
}

export const base58 = (bytes: Uint8Array): string => getBase58Decoder().decode(bytes);
export const toAddress = (bytes: Uint8Array): string => getAddressDecoder().decode(bytes);

/** @throws Malformed */
export function decodeMessage(bytes: Uint8Array): Message {
  const compiled = attempt(() => getCompiledTransactionMessageDecoder().decode(bytes));
  if (compiled.version !== 'legacy' && compiled.version !== 0) throw new Malformed('unsupported version');
  const lookups = compiled.version === 0 ? (compiled.addressTableLookups ?? []) : [];
  const message: Message = {
    ...{ version: compiled.version, header: compiled.header, keys: [...compiled.staticAccounts] },
    blockhash: compiled.lifetimeToken,
    instructions: compiled.instructions.map((entry) => ({
      ...{ program: entry.programAddressIndex, accounts: entry.accountIndices ?? [] },
      data: new Uint8Array(entry.data ?? []),
    })),
    lookups: lookups.map((entry) => ({
      ...{ table: entry.lookupTableAddress, writable: entry.writableIndexes, readonly: entry.readonlyIndexes },
    })),
  };
  checkIndexes(message);
  return message;
}

/** @throws Malformed */
export function decodeTransaction(bytes: Buffer): Decoded {
  if (bytes.length > maxTransactionBytes)
    throw new Malformed(`decoded solana_transaction::versioned::VersionedTransaction too large: ${bytes.length} bytes`);
  const transaction = attempt(() => getTransactionDecoder().decode(bytes));
  const messageBytes = new Uint8Array(transaction.messageBytes);
  const message = decodeMessage(messageBytes);
  const signatures = Object.values(transaction.signatures).map((signature) => base58(signature ?? new Uint8Array(64)));
  // its length tells whether more bytes follow
  if (bytes.length !== 1 + signatures.length * 64 + messageBytes.length || signatures.length === 0)
    throw new Malformed('failed to deserialize solana_transaction::versioned::VersionedTransaction');
  return {
    ...{ bytes, transaction, signatures, message, id: signatures[0] as string },
    messageKey: createHash('sha256').update(messageBytes).digest('base64'),
  };
}

export const isWritableKey = ({ header, keys }: Message, index: number): boolean =>
  index < header.numSignerAccounts
    ? index < header.numSignerAccounts - header.numReadonlySignerAccounts
    : index < keys.length - header.numReadonlyNonSignerAccounts;

function checkIndexes({ keys, instructions, lookups, header }: Message): void {
  const count = keys.length + lookups.reduce((sum, { writable, readonly }) => sum + writable.length + readonly.length, 0);
  const isSane = instructions.every(
    ({ program, accounts }) => program > 0 && program < keys.length && accounts.every((index) => index < count),
  );
  if (!isSane || header.numSignerAccounts > keys.length || header.numSignerAccounts <= header.numReadonlySignerAccounts)
    throw new Malformed('invalid transaction: Transaction failed to sanitize accounts offsets correctly');
}

function attempt<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw new Malformed(`failed to deserialize solana_transaction::versioned::VersionedTransaction: ${(error as Error).message}`);
  }
}
