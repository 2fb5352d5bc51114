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
  mint: string;
  /** null: not shown, as of old blocks. */
  owner: string | null;
  amount: bigint;
}

/** What a transaction in a block has done. */
export interface Executed extends ForeignTransaction {
  success: boolean;
  /** Lamports, in the order of the keys; null: more than a number holds exactly. */
  before: (bigint | null)[];
  after: (bigint | null)[];
  tokensBefore: TokenBalance[];
  tokensAfter: TokenBalance[];
}

export interface Block extends Header {
  transactions: Executed[];
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
    readList(readObject(readObject(it).transaction).accountKeys).map((key) => readText(readObject(key).pubkey)),
  );
  return { ...readHeader(slot, answer), accounts };
}

/** With full transactions, in base64. */
export function readBlock(slot: number, answer: JsonValue): Block {
  const transactions = readList(readObject(answer).transactions).map(readExecuted);
  return { ...readHeader(slot, answer), transactions };
}

export function readExecuted(answer: JsonValue): Executed {
  const { transaction, meta } = readObject(answer);
  const [encoded, encoding] = readList(transaction);
  if (encoding !== 'base64') throw new Error('a transaction is in another encoding');
  const { err, preBalances, postBalances, preTokenBalances, postTokenBalances, loadedAddresses } = readObject(meta);
  const { writable, readonly } = isJsonObject(loadedAddresses) ? loadedAddresses : { writable: [], readonly: [] };
  const loaded = [...readList(writable), ...readList(readonly)].map(readHash);
  const foreign = readForeign(Buffer.from(readText(encoded), 'base64'), loaded);
  const [before, after] = [preBalances, postBalances].map((list) => readList(list).map(readLamports));
  if (before?.length !== foreign.keys.length || after?.length !== foreign.keys.length)
    throw new Error('a transaction has another number of balances than of accounts');
  const [tokensBefore, tokensAfter] = [preTokenBalances, postTokenBalances].map((list) =>
    list === undefined || list === null ? null : readList(list).map(readTokenBalance),
  ) as [TokenBalance[] | null, TokenBalance[] | null];
  // all that an account has would seem to be paid
  if ((tokensBefore === null) !== (tokensAfter === null)) throw new Error('a transaction has tokens on one side alone');
  return { ...foreign, success: err === null, before, after, tokensBefore: tokensBefore ?? [], tokensAfter: tokensAfter ?? [] };
}

const readLamports = (value: JsonValue): bigint | null => (Number.isSafeInteger(value) ? BigInt(value as number) : null);

function readTokenBalance(value: JsonValue): TokenBalance {
  const { accountIndex, mint, owner, uiTokenAmount } = readObject(value);
  const amount = readText(readObject(uiTokenAmount).amount);
  if (!/^\d{1,20}$/.test(amount)) throw new Error('the answer has no amount where it should');
  const shownOwner = typeof owner === 'string' ? readHash(owner) : null;
  return { account: readNumber(accountIndex), mint: readHash(mint), owner: shownOwner, amount: BigInt(amount) };
}

/** null: there is no such account. */
export function readAccount(value: JsonValue | undefined): Account | null {
  if (value === null) return null;
  const { lamports, owner, data } = readObject(value);
  const [encoded, encoding] = readList(data);
  const balance = readLamports(lamports ?? null);
  if (encoding !== 'base64' || balance === null) throw new Error('the answer has no account where it should');
  return { lamports: balance, program: readHash(owner), data: Buffer.from(readText(encoded), 'base64') };
}
