/** Whether a chain may have a transaction at all: java-tron, Manager.validateTapos, validateCommon and validateDup. */
import { type Block, referenceOf } from './blocks';
import { type Decoded, transactionBytes } from './decoded';
import type { RawTransaction } from './messages';
import { limits, recentBlocks } from './parameters';
import { Refusal } from './refusal';

interface Known {
  head: Block;
  getBlock: (number: number) => Block | undefined;
  findBlockOf: (id: string) => Block | undefined;
}

/** @throws Refusal */
export function checkPlace({ raw, id, transaction }: Decoded, chain: Known): void {
  const { head } = chain;
  checkReference(raw, chain);
  const size = transactionBytes(transaction).length + 2 * limits.resultBytes;
  if (size > limits.transactionBytes) {
    const text = `Too big transaction with result, TxId ${id}, the size is ${size} bytes, maxTxSize ${limits.transactionBytes}`;
    throw new Refusal('TOO_BIG_TRANSACTION_ERROR', text);
  }
  const expiration = Number(raw.expiration);
  if (expiration <= head.timeMs || expiration > head.timeMs + limits.expirationMs) throw expired(raw, head);
  if (chain.findBlockOf(id)) throw new Refusal('DUP_TRANSACTION_ERROR', `dup trans : ${id}`);
}

/** The last block whose number ends in the two bytes must have the id. */
function checkReference({ ref_block_bytes: bytes, ref_block_hash: hash }: RawTransaction, chain: Known): void {
  const { head } = chain;
  const number = bytes.length === 2 ? head.number - ((head.number - bytes.readUInt16BE() + recentBlocks) % recentBlocks) : -1;
  const block = chain.getBlock(number);
  if (!block || !referenceOf(block).hash.equals(hash)) {
    throw new Refusal(
      'TAPOS_ERROR',
      `Tapos failed, ref block ${bytes.toString('hex')}, ${hash.toString('hex')}, head ${head.number}`,
    );
  }
}

export const expired = ({ expiration }: RawTransaction, head: Block): Refusal =>
  new Refusal(
    'TRANSACTION_EXPIRATION_ERROR',
    `Transaction expiration, transaction expiration time is ${expiration}, but headBlockTime is ${head.timeMs}`,
  );
