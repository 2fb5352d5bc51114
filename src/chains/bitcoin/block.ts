import { assertCommitted } from './commitments';
import { doubleSha256 } from './hash';

/** Blocks and transactions in the format of the peer-to-peer network (BIP-144). */

/** What the input of a block's first transaction names: no output. */
const noOutput = `${'0'.repeat(64)}:4294967295`;

export interface TransactionInput {
  /** `<id of the transaction>:<index>` of the output that is spent. */
  resource: string;
  scriptSig: Buffer;
  witness: Buffer[];
}

export interface BlockOutput {
  /** Satoshis. */
  amount: bigint;
  script: Buffer;
}

export interface RawTransaction {
  /** `hash`, as it is shown. */
  id: string;
  /** Of the bytes without witnesses. */
  hash: Buffer;
  /** Of the bytes with witnesses; the same buffer as `hash` where there are none. */
  witnessHash: Buffer;
  isCoinbase: boolean;
  inputs: TransactionInput[];
  outputs: BlockOutput[];
}

export interface RawBlock {
  hash: string;
  parentHash: string;
  transactions: RawTransaction[];
}

const headerBytes = 80;

/** The input with which a block pays its miner. */
export const isCoinbase = ({ resource }: TransactionInput): boolean => resource === noOutput;

/** @throws RangeError on bytes that end too early, Error on bytes behind the block and on transactions that are not its header's. */
export function parseBlock(bytes: Buffer): RawBlock {
  const reader = new Reader(bytes);
  const header = reader.take(headerBytes);
  const transactions = reader.list(() => readTransaction(reader));
  reader.assertEnd();
  assertCommitted(header.subarray(36, 68), transactions);
  return { hash: toId(doubleSha256(header)), parentHash: toId(header.subarray(4, 36)), transactions };
}

/** @throws RangeError on bytes that end too early, Error on bytes behind the transaction. */
export function parseRawTransaction(bytes: Buffer): RawTransaction {
  const reader = new Reader(bytes);
  const transaction = readTransaction(reader);
  reader.assertEnd();
  return transaction;
}

function readTransaction(reader: Reader): RawTransaction {
  const start = reader.position;
  const version = reader.take(4);
  // a marker of zero, where the number of inputs would be, and a flag
  const hasWitnesses = reader.peek() === 0;
  if (hasWitnesses) reader.take(2);
  const from = reader.position;
  const inputs = reader.list(() => readInput(reader));
  const outputs = reader.list(() => ({ amount: reader.take(8).readBigUInt64LE(), script: reader.block() }));
  const body = reader.since(from);
  if (hasWitnesses) for (const input of inputs) input.witness = reader.list(() => reader.block());
  const lockTime = reader.take(4);
  const signed = hasWitnesses ? Buffer.concat([version, body, lockTime]) : reader.since(start);
  const hash = doubleSha256(signed);
  const witnessHash = hasWitnesses ? doubleSha256(reader.since(start)) : hash;
  return { id: toId(hash), hash, witnessHash, isCoinbase: inputs.some(isCoinbase), inputs, outputs };
}

function readInput(reader: Reader): TransactionInput {
  const id = toId(reader.take(32));
  const index = reader.take(4).readUInt32LE();
  const scriptSig = reader.block();
  reader.take(4);
  return { resource: `${id}:${index}`, scriptSig, witness: [] };
}

/** Ids and hashes are shown with their bytes reversed. */
const toId = (hash: Buffer): string => Buffer.from(hash).reverse().toString('hex');

class Reader {
  position = 0;

  constructor(private readonly bytes: Buffer) {}

  take(length: number): Buffer {
    const end = this.position + length;
    if (end > this.bytes.length) throw new RangeError('the bytes end too early');
    const taken = this.bytes.subarray(this.position, end);
    this.position = end;
    return taken;
  }

  peek(): number | undefined {
    return this.bytes[this.position];
  }

  since(start: number): Buffer {
    return this.bytes.subarray(start, this.position);
  }

  /** Bytes behind their number. */
  block(): Buffer {
    return this.take(this.compactSize());
  }

  /** Items behind their number: each has at least a byte, so that the bytes bound the number. */
  list<T>(readItem: () => T): T[] {
    const count = this.compactSize();
    const items: T[] = [];
    for (let index = 0; index < count; index += 1) items.push(readItem());
    return items;
  }

  assertEnd(): void {
    if (this.position !== this.bytes.length) throw new Error('there are bytes behind the end');
  }

  private compactSize(): number {
    const first = this.take(1).readUInt8();
    if (first === 0xfd) return this.take(2).readUInt16LE();
    if (first === 0xfe) return this.take(4).readUInt32LE();
    if (first === 0xff) return Number(this.take(8).readBigUInt64LE());
    return first;
  }
}
