/** Blocks: java-tron, BlockCapsule (id), MerkleTree (root); the witnesses' keys are known to everybody. */
import { addressOfKey, sha256, sign } from './address';
import type { JsonObject } from './json';
import { headerSchema, type HeaderRaw } from './messages';
import { encode } from './protobuf';

export interface IncludedTransaction {
  id: string;
  /** Protobuf, with signatures and without results, hex. */
  bytes: string;
  /** Tron.proto: Transaction.Result.contractResult. */
  contractRet: string;
  /** TransactionInfo as the HTTP API shows it without `visible`. */
  info: JsonObject;
}

export interface Block {
  number: number;
  timeMs: number;
  /** Hex: eight bytes of the number, and the rest of the header's hash. */
  id: string;
  parent: string;
  root: string;
  /** Index of the witness. */
  witness: number;
  signature: string;
  transactions: IncludedTransaction[];
}

/** ChainConstant.MAX_ACTIVE_WITNESS_NUM. */
const witnessCount = 27;
const headerVersion = 32;
const witnesses = Array.from({ length: witnessCount }, (_, index) => {
  const key = sha256(Buffer.from(`simulated witness ${index}`));
  return { key, address: addressOfKey(key) };
});
const witnessOf = (index: number) => witnesses[index % witnessCount] as (typeof witnesses)[number];

export function toHeader({ number, timeMs, parent, root, witness }: Omit<Block, 'id' | 'signature' | 'transactions'>): HeaderRaw {
  return {
    ...{ timestamp: BigInt(timeMs), txTrieRoot: Buffer.from(root, 'hex'), parentHash: Buffer.from(parent, 'hex') },
    ...{ number: BigInt(number), witness_address: witnessOf(witness).address, version: headerVersion },
  };
}

export function makeBlock(
  place: Pick<Block, 'number' | 'timeMs' | 'parent' | 'witness'>,
  transactions: IncludedTransaction[],
): Block {
  const header = {
    ...place,
    root: merkleRoot(transactions.map(({ bytes }) => sha256(Buffer.from(bytes, 'hex')))).toString('hex'),
  };
  const hash = sha256(encode(headerSchema, toHeader(header)));
  const number = Buffer.alloc(8);
  number.writeBigUInt64BE(BigInt(place.number));
  return {
    ...header,
    id: Buffer.concat([number, hash.subarray(8)]).toString('hex'),
    signature: sign(hash, witnessOf(place.witness).key).toString('hex'),
    transactions,
  };
}

/** An odd one goes up as it is. */
function merkleRoot(leaves: Buffer[]): Buffer {
  if (leaves.length === 0) return Buffer.alloc(32);
  let level = leaves;
  while (level.length > 1) {
    const above: Buffer[] = [];
    for (let index = 0; index < level.length; index += 2) above.push(sha256(Buffer.concat(level.slice(index, index + 2))));
    if (level.length % 2 === 1) above[above.length - 1] = level.at(-1) as Buffer;
    level = above;
  }
  return level[0] as Buffer;
}

/** What a transaction names: two bytes of the number, eight bytes of the id. */
export const referenceOf = ({ number, id }: Block): { bytes: Buffer; hash: Buffer } => {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(number % 65_536);
  return { bytes, hash: Buffer.from(id, 'hex').subarray(8, 16) };
};
