import { fromHex, toHex } from '../../../platform/hex';
import type { Hex } from '../../types';
import { isUsable } from './address';
import { type Call, callTypes, readCall, writeCall } from './call';
import { type Message, readMessage, type Shape, writeMessage } from './protobuf';

/** The transactions that this gateway signs: Tron.proto of java-tron, `Transaction.raw`. */
export interface UnsignedTransaction {
  /** 21 bytes. */
  owner: Buffer;
  call: Call;
  /** Two bytes of a block's number and eight of its id: only a chain that has this block executes it (TAPOS). */
  reference: { number: Buffer; id: Buffer };
  /** Milliseconds since the epoch; no block behind one of this time, or a later one, has it. */
  expiration: bigint;
  /** Milliseconds since the epoch; nothing depends on it. */
  timestamp: bigint;
  /** Most that may be burnt for energy, sun; 0n for a transfer of TRX, which needs none. */
  feeLimit: bigint;
  /** Of the data field, shown to everybody; null: none. */
  memo: string | null;
}

/** A payment has less than 300 bytes without its memo. */
const maxBytes = 1_024;
/** The longest memo of a transfer has 100 characters. */
const maxMemoBytes = 400;
/** The network's highest fee limit (TRON's documents, "fee_limit"): 15,000 TRX. */
const maxFeeLimit = 15_000_000_000n;
/** Milliseconds until the year 2255: every number below is exact. */
const maxTime = 9_000_000_000_000n;

const rawShape: Shape = { 1: 'bytes', 4: 'bytes', 8: 'number', 10: 'bytes', 11: 'bytes', 14: 'number', 18: 'number' };
/** Without a permission id: 0 is the owner's. */
const contractShape: Shape = { 1: 'number', 2: 'bytes' };
const anyShape: Shape = { 1: 'bytes', 2: 'bytes' };
const typePrefix = 'type.googleapis.com/protocol.';

/** @throws Error for what `decode` refuses. */
export function encode(transaction: UnsignedTransaction): Hex {
  const bytes = toHex(write(transaction));
  decode(bytes);
  return bytes;
}

function write({ owner, call, reference, expiration, timestamp, feeLimit, memo }: UnsignedTransaction): Buffer {
  const { type, name, value } = writeCall(owner, call);
  const parameter = writeMessage([
    [1, Buffer.from(`${typePrefix}${name}`)],
    [2, value],
  ]);
  const contract = writeMessage([
    [1, type],
    [2, parameter],
  ]);
  return writeMessage([
    [1, reference.number],
    [4, reference.id],
    [8, expiration],
    [10, Buffer.from(memo ?? '')],
    [11, contract],
    [14, timestamp],
    [18, feeLimit],
  ]);
}

/** @throws Error for bytes that this gateway would never build, in whatever form. */
export function decode(unsigned: Hex): UnsignedTransaction {
  if (unsigned.length > 2 + 2 * maxBytes || !/^0x(?:[0-9a-f]{2})+$/.test(unsigned))
    throw new Error(`unsigned bytes are lower-case hex, at most ${maxBytes} bytes`);
  const bytes = fromHex(unsigned);
  const raw = readMessage(bytes, rawShape);
  const transaction = { ...readContract(raw.bytes(11)), ...readFrame(raw) };
  assertSound(transaction);
  if (!write(transaction).equals(bytes)) throw new Error('the bytes are not in canonical form');
  return transaction;
}

function readContract(bytes: Buffer): Pick<UnsignedTransaction, 'owner' | 'call'> {
  const contract = readMessage(bytes, contractShape);
  const name = callTypes.get(contract.number(1));
  if (!name) throw new Error('only transfers and calls of contracts are signed');
  const parameter = readMessage(contract.bytes(2), anyShape);
  if (parameter.bytes(1).toString() !== `${typePrefix}${name}`) throw new Error('the contract has two types');
  return readCall(name, parameter.bytes(2));
}

const readFrame = (raw: Message) => ({
  reference: { number: raw.bytes(1), id: raw.bytes(4) },
  expiration: raw.number(8),
  timestamp: raw.number(14),
  feeLimit: raw.number(18),
  memo: readMemo(raw.bytes(10)),
});

function readMemo(bytes: Buffer): string | null {
  if (bytes.length > maxMemoBytes) throw new Error('the memo is too long');
  return bytes.length === 0 ? null : new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
}

function assertSound({ owner, call, reference, expiration, timestamp, feeLimit }: UnsignedTransaction): void {
  if (!isUsable(owner)) throw new Error('the owner is no address');
  if (reference.number.length !== 2 || reference.id.length !== 8) throw new Error('the reference names no block');
  for (const time of [expiration, timestamp]) {
    if (time <= 0n || time > maxTime) throw new Error('a time is out of range');
  }
  if (feeLimit > 0n !== (call.token !== null)) throw new Error('calls of contracts have a fee limit, and nothing else has');
  if (feeLimit > maxFeeLimit) throw new Error('the fee limit is out of range');
}
