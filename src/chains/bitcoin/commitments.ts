import { doubleSha256 } from './hash';

/** What a header commits to: the transactions of its block, and by way of the first one their witnesses (BIP-141). */

interface CommittedTransaction {
  hash: Buffer;
  /** The same buffer as `hash` where there are no witnesses. */
  witnessHash: Buffer;
  isCoinbase: boolean;
  inputs: { witness: Buffer[] }[];
  outputs: { script: Buffer }[];
}

/** Behind OP_RETURN and the length of 36 bytes. */
const commitmentHeader = '6a24aa21a9ed';
const hashBytes = 32;

/** @throws Error for transactions that are not those of the header with this root. */
export function assertCommitted(merkleRoot: Buffer, transactions: CommittedTransaction[]): void {
  const [first, ...others] = transactions;
  // also what tells transactions from inner hashes of the tree: two of them may be read as one
  if (!first?.isCoinbase || others.some(({ isCoinbase }) => isCoinbase))
    throw new Error('a block has one coinbase, as its first transaction');
  if (!toRoot(transactions.map(({ hash }) => hash)).equals(merkleRoot))
    throw new Error('the transactions are not those of the header');
  assertWitnesses(first, transactions);
}

/** A block without a commitment has no witnesses. */
function assertWitnesses(first: CommittedTransaction, transactions: CommittedTransaction[]): void {
  const scripts = first.outputs.map(({ script }) => script.toString('hex'));
  const commitment = scripts.findLast((script) => script.startsWith(commitmentHeader) && script.length >= 2 * (6 + hashBytes));
  if (!commitment) {
    if (transactions.some(({ hash, witnessHash }) => hash !== witnessHash))
      throw new Error('a block without a commitment has witnesses');
    return;
  }
  const [reserved, ...more] = first.inputs[0]?.witness ?? [];
  if (reserved?.length !== hashBytes || more.length > 0) throw new Error('the witness of the coinbase is missing');
  const hashes = transactions.map(({ witnessHash }, index) => (index === 0 ? Buffer.alloc(hashBytes) : witnessHash));
  const expected = doubleSha256(Buffer.concat([toRoot(hashes), reserved]));
  if (commitment.slice(commitmentHeader.length, commitmentHeader.length + 2 * hashBytes) !== expected.toString('hex'))
    throw new Error('the witnesses are not those of the block');
}

/** @throws Error for hashes of which the last ones are there twice: fewer of them have the same root (CVE-2012-2459). */
function toRoot(hashes: Buffer[]): Buffer {
  let level = hashes;
  while (level.length > 1) {
    const above: Buffer[] = [];
    for (let index = 0; index < level.length; index += 2) {
      const left = level[index] as Buffer;
      const right = level[index + 1];
      if (right?.equals(left)) throw new Error('a transaction is in the block twice');
      above.push(doubleSha256(Buffer.concat([left, right ?? left])));
    }
    level = above;
  }
  return level[0] as Buffer;
}
