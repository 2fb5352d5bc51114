import { isJsonObject } from '../json';
import type { JsonObject, JsonValue } from '../types';
import { fromBase58 } from './codec/base58';
import { type ForeignTransaction, readForeign } from './foreign';

/** What nodes answer (Solana's documents, "RPC methods"). Every function throws an Error for anything else. */

export interface Header {
  slot: number;
  parentSlot: number;
  /** Base58. */
  blockhash: string;
  parentHash: string;
  /** Blocks before it: slots without a block do not count. */
  height: number;
  /** Seconds since the epoch, as validators estimate it; null: not shown. */
  time: number | null;
}

export interface TokenBalance {
  /** Position in the keys of its transaction. */
  account: number;
  /** As it is shown: whoever compares it with an address decides whether it is one. */
  mint: string;
  /** The same; null: not shown, as of old blocks. */
  owner: string | null;
  amount: bigint;
}

/** What a transaction in a block has moved. */
export interface Moved extends Omit<ForeignTransaction, 'message'> {
  success: boolean;
  /** Lamports, in the order of the keys, as they are shown: `toLamports` reads those that matter. A block shows 60,000 of them. */
  before: JsonValue[];
  after: JsonValue[];
  tokensBefore: TokenBalance[];
  tokensAfter: TokenBalance[];
}

/** With the bytes that were signed. */
export type Executed = Moved & ForeignTransaction;

export interface Block extends Header {
  transactions: Executed[];
}

/** A block with what its transactions have moved, without their bytes. */
export interface MovedBlock extends Header {
  transactions: Moved[];
}

/** A block with the accounts of its transactions, and nothing else of them. */
export interface ListedBlock extends Header {
  /** Base58, by transaction; with those of lookup tables. */
  accounts: string[][];
}

export interface Account {
  lamports: bigint;
  /** Base58. */
  program: string;
  data: Buffer;
}

export function readObject(value: JsonValue | undefined): JsonObject {
  if (!isJsonObject(value)) throw new Error('the answer is no object');
  return value;
}

export function readList(value: JsonValue | undefined): JsonValue[] {
  if (!Array.isArray(value)) throw new Error('the answer is no list');
  return value;
}

export function readNumber(value: JsonValue | undefined): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw new Error('the answer has no number where it should');
  return value;
}

export function readText(value: JsonValue | undefined): string {
  if (typeof value !== 'string') throw new Error('the answer has no text where it should');
  return value;
}

export function readHash(value: JsonValue | undefined): string {
  const text = readText(value);
  if (!fromBase58(text, 32)) throw new Error('the answer has no hash where it should');
  return text;
}

/** What is beside the slot that it is of. */
export const readValue = (answer: JsonValue): JsonValue | undefined => readObject(answer).value;

export function readHeader(slot: number, answer: JsonValue): Header {
  const { blockhash, previousBlockhash, parentSlot, blockHeight, blockTime = null } = readObject(answer);
  return {
    ...{ slot, parentSlot: readNumber(parentSlot), height: readNumber(blockHeight) },
    ...{ blockhash: readHash(blockhash), parentHash: readHash(previousBlockhash) },
    time: blockTime === null ? null : readNumber(blockTime),
  };
}

/** With the accounts of its transactions. */
export function readListedBlock(slot: number, answer: JsonValue): ListedBlock {
  const accounts = readList(readObject(answer).transactions).map((it) =>
    readList(readObject(readObject(it).transaction).accountKeys).map(readKey),
  );
  return { ...readHeader(slot, answer), accounts };
}

/** With full transactions, in base64. */
export function readBlock(slot: number, answer: JsonValue): Block {
  const transactions = readList(readObject(answer).transactions).map(readExecuted);
  return { ...readHeader(slot, answer), transactions };
}

/** With what its transactions have moved: a node shows less of a block in this form than in that of `readBlock`. */
export function readMovedBlock(slot: number, answer: JsonValue): MovedBlock {
  const transactions = readList(readObject(answer).transactions).map((it) => {
    const { transaction, meta } = readObject(it);
    const { signatures, accountKeys } = readObject(transaction);
    const keys = readList(accountKeys).map(readKey);
    const [[id], [payer]] = [readList(signatures).map(readText), keys];
    const count = readList(signatures).length;
    if (id === undefined || payer === undefined || !signature.test(id) || count > keys.length)
      throw new Error('a transaction has no signature or no account');
    // those who sign come first
    return { id, payer, signers: keys.slice(0, count), keys, ...readMeta(meta, keys.length) };
  });
  return { ...readHeader(slot, answer), transactions };
}

/** Of every account in a block: a property that is missing says as much as a look at what the value is. */
const readKey = (key: JsonValue): string => assertShort(readText((key as JsonObject | null)?.pubkey));

/** No address in Base58 is longer than 44 letters. Payments repeat it, and each repetition is copied on its way to another thread. */
function assertShort(address: string): string {
  if (address.length > 44) throw new Error('the answer has no address where it should');
  return address;
}

/** Base58 of 64 bytes, as far as its letters and its length show it. */
const signature = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/;

export function readExecuted(answer: JsonValue): Executed {
  const { transaction, meta } = readObject(answer);
  const [encoded, encoding] = readList(transaction);
  if (encoding !== 'base64') throw new Error('a transaction is in another encoding');
  const { loadedAddresses } = readObject(meta);
  const { writable, readonly } = isJsonObject(loadedAddresses) ? loadedAddresses : { writable: [], readonly: [] };
  const loaded = [...readList(writable), ...readList(readonly)].map(readHash);
  const foreign = readForeign(Buffer.from(readText(encoded), 'base64'), loaded);
  return { ...foreign, ...readMeta(meta, foreign.keys.length) };
}

/** Instructions name an account by one byte. */
const maxAccounts = 256;

/** `accounts`: how many the transaction has. */
function readMeta(
  meta: JsonValue | undefined,
  accounts: number,
): Pick<Moved, 'success' | 'before' | 'after' | 'tokensBefore' | 'tokensAfter'> {
  const { err, preBalances, postBalances, preTokenBalances, postTokenBalances } = readObject(meta);
  const [before, after] = [readList(preBalances), readList(postBalances)];
  if (before.length !== accounts || after.length !== accounts)
    throw new Error('a transaction has another number of balances than of accounts');
  if (accounts > maxAccounts) throw new Error('a transaction has more accounts than its format can name');
  const [tokensBefore, tokensAfter] = [preTokenBalances, postTokenBalances].map((list) =>
    list === undefined || list === null ? null : readList(list).map(readTokenBalance),
  ) as [TokenBalance[] | null, TokenBalance[] | null];
  if ([tokensBefore, tokensAfter].some((list) => list !== null && list.length > accounts))
    throw new Error('a transaction has more balances of tokens than accounts');
  // all that an account has would seem to be paid
  if ((tokensBefore === null) !== (tokensAfter === null)) throw new Error('a transaction has tokens on one side alone');
  return { success: err === null, before, after, tokensBefore: tokensBefore ?? [], tokensAfter: tokensAfter ?? [] };
}

/** null: not shown, or more than a number holds exactly. */
export const toLamports = (value: JsonValue | undefined): bigint | null =>
  Number.isSafeInteger(value) ? BigInt(value as number) : null;

function readTokenBalance(value: JsonValue): TokenBalance {
  const { accountIndex, mint, owner, uiTokenAmount } = readObject(value);
  const amount = readText(readObject(uiTokenAmount).amount);
  if (!/^\d{1,20}$/.test(amount)) throw new Error('the answer has no amount where it should');
  const shownOwner = typeof owner === 'string' ? assertShort(owner) : null;
  return { account: readNumber(accountIndex), mint: readText(mint), owner: shownOwner, amount: BigInt(amount) };
}

/** null: there is no such account. */
export function readAccount(value: JsonValue | undefined): Account | null {
  if (value === null) return null;
  const { lamports, owner, data } = readObject(value);
  const [encoded, encoding] = readList(data);
  const balance = toLamports(lamports);
  if (encoding !== 'base64' || balance === null) throw new Error('the answer has no account where it should');
  return { lamports: balance, program: readHash(owner), data: Buffer.from(readText(encoded), 'base64') };
}
