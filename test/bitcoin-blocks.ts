import { Block, Transaction } from 'bitcoinjs-lib';

const reserved = Buffer.alloc(32);

/** The first transaction of a block. */
export function coinbase(payments: { script: Uint8Array; amount: bigint }[] = []): Transaction {
  const transaction = new Transaction();
  transaction.addInput(new Uint8Array(32), 0xffffffff, 0xffffffff, Uint8Array.from([1, 1]));
  for (const { script, amount } of payments) transaction.addOutput(script, amount);
  return transaction;
}

/** A block of these transactions behind the first one, to which its header commits, with their witnesses (BIP-141); without work. */
export function toBlock(transactions: Transaction[], first = coinbase()): Block {
  const all = [first, ...transactions];
  first.setWitness(0, [reserved]);
  // the root covers no commitment, since the first transaction counts as zeros in it
  first.addOutput(Uint8Array.from(Buffer.from(`6a24aa21a9ed${'00'.repeat(32)}`, 'hex')), 0n);
  const commitment = Buffer.from(Block.calculateMerkleRoot(all, true));
  const [output] = first.outs.slice(-1);
  if (output) output.script = Uint8Array.from([...Buffer.from('6a24aa21a9ed', 'hex'), ...commitment]);
  const block = new Block();
  block.prevHash = Uint8Array.from(Buffer.alloc(32, 5));
  block.merkleRoot = Block.calculateMerkleRoot(all);
  block.bits = 0x207fffff;
  block.transactions = all;
  return block;
}
