import { isJsonObject } from '../json';
import type { JsonObject, JsonValue } from '../types';
import { sha256 } from './codec/base58';

/** What nodes answer (TRON's documents, api/http). Every function throws an Error for anything else. */

export interface Header {
  number: number;
  /** Hex: eight bytes of the number, and the rest of the header's hash. */
  id: string;
  parentId: string;
  /** Milliseconds since the epoch. */
  timeMs: number;
}

export interface BlockTransaction {
  id: string;
  /** As signed; its hash is the id. */
  raw: Buffer;
  /** Result of a contract; DEFAULT or SUCCESS for all that no contract has done. */
  result: string;
}

export interface Block extends Header {
  transactions: BlockTransaction[];
}

export interface Log {
  /** 20 bytes, hex. */
  contract: string;
  topics: string[];
  data: string;
}

export interface InternalTransfer {
  /** Canonical form. */
  from: string;
  to: string;
  /** Sun; null: the answer's number stands for several amounts. */
  amount: bigint | null;
}

/** Of an executed transaction. */
export interface Receipt {
  id: string;
  blockNumber: number;
  /** Sun. */
  fee: bigint;
  /** It did what it says. */
  success: boolean;
  /** 20 bytes, hex, of the contract that was called or created; null where the answer names none. */
  contract: string | null;
  logs: Log[];
  internal: InternalTransfer[];
  /** Calls by contracts, of whatever they pay, are in the answer. */
  hasInternal: boolean;
}

export function readObject(value: unknown): JsonObject {
  if (!isJsonObject(value)) throw new Error('the answer is no object');
  // an exception of the node, with status 200
  if (typeof value.Error === 'string') throw new Error('the node refused the request');
  return value;
}

export const readList = (value: JsonValue | undefined): JsonValue[] => (Array.isArray(value) ? value : []);

function readHex(value: JsonValue | undefined, bytes?: number): string {
  if (typeof value !== 'string' || !/^([0-9a-f]{2})*$/.test(value) || (bytes !== undefined && value.length !== 2 * bytes))
    throw new Error('the answer has no hex where it should');
  return value;
}

/** Absent: 0. */
export function readNumber(value: JsonValue | undefined): number {
  if (value === undefined) return 0;
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw new Error('the answer has no number where it should');
  return value;
}

const readAmount = (value: JsonValue | undefined): bigint => BigInt(readNumber(value));

/** null for an empty answer: there is no such block. */
export function readHeader(answer: unknown): Header | null {
  const block = readObject(answer);
  return block.blockID === undefined ? null : toHeader(block);
}

function toHeader({ blockID, block_header: header }: JsonObject): Header {
  const { number, timestamp, parentHash } = readObject(readObject(header).raw_data);
  const id = readHex(blockID, 32);
  const height = readNumber(number);
  if (Number.parseInt(id.slice(0, 16), 16) !== height) throw new Error('a block has the number of another one');
  return { number: height, id, parentId: readHex(parentHash, 32), timeMs: readNumber(timestamp) };
}

const noTransactions = '0'.repeat(64);

/** With its transactions, none of which may be missing or be another one than its id says. */
export function readBlock(answer: JsonValue): Block {
  const block = readObject(answer);
  const transactions = readList(block.transactions).map(readTransaction);
  const { txTrieRoot } = readObject(readObject(block.block_header).raw_data);
  if (txTrieRoot !== undefined && (txTrieRoot === noTransactions) !== (transactions.length === 0))
    throw new Error('a block lacks its transactions');
  return { ...toHeader(block), transactions };
}

function readTransaction(value: JsonValue): BlockTransaction {
  const { txID, raw_data_hex: hex, ret } = readObject(value);
  const id = readHex(txID, 32);
  const raw = Buffer.from(readHex(hex), 'hex');
  if (sha256(raw).toString('hex') !== id) throw new Error('a transaction is not the one that its id names');
  const [first] = readList(ret);
  const result = first === undefined ? undefined : readObject(first).contractRet;
  return { id, raw, result: typeof result === 'string' ? result : 'DEFAULT' };
}

/** null for an empty answer: no such transaction was executed. */
export function readReceipt(answer: unknown): Receipt | null {
  const info = readObject(answer);
  if (info.id === undefined) return null;
  // only contracts have one
  const { result } = info.receipt === undefined ? {} : readObject(info.receipt);
  return {
    id: readHex(info.id, 32),
    blockNumber: readNumber(info.blockNumber),
    fee: readAmount(info.fee),
    success: info.result !== 'FAILED' && (result === undefined || result === 'SUCCESS'),
    contract: isAddress(info.contract_address) ? info.contract_address.slice(2) : null,
    logs: readList(info.log).map(readLog),
    internal: readList(info.internal_transactions).flatMap(readInternal),
    hasInternal: readList(info.internal_transactions).length > 0,
  };
}

function readLog(value: JsonValue): Log {
  const { address, topics, data } = readObject(value);
  return {
    contract: readHex(address, 20),
    topics: readList(topics).map((topic) => readHex(topic, 32)),
    data: data === undefined ? '' : readHex(data),
  };
}

/** Those that move TRX: others, such as delegateResource, name amounts of which nothing is paid (java-tron, Program.addInternalTx). */
const payingNotes: ReadonlySet<unknown> = new Set(['call', 'suicide'].map((note) => Buffer.from(note).toString('hex')));
const isAddress = (value: JsonValue | undefined): value is string => typeof value === 'string' && /^41[0-9a-f]{40}$/.test(value);

const toExact = (value: JsonValue): bigint | null => (Number.isSafeInteger(value) ? BigInt(value as number) : null);

/** TRX that a contract has sent on; tokens of another kind (TRC-10) are left out. */
function readInternal(value: JsonValue): InternalTransfer[] {
  const { caller_address: from, transferTo_address: to, callValueInfo, rejected, note } = readObject(value);
  if (rejected === true || !payingNotes.has(note) || !isAddress(from) || !isAddress(to)) return [];
  return readList(callValueInfo).flatMap((entry) => {
    const { callValue, tokenId } = readObject(entry);
    return tokenId === undefined && callValue !== undefined ? [{ from, to, amount: toExact(callValue) }] : [];
  });
}
