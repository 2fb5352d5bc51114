import { secp256k1 } from '@noble/curves/secp256k1.js';
import { Block, payments as scripts, Transaction } from 'bitcoinjs-lib';
import { parseBlock, parseRawTransaction } from '../../../src/chains/bitcoin/block';
import { findSpentScript } from '../../../src/chains/bitcoin/spender';
import { regtest } from '../../../src/chains/bitcoin/network';
import { scanBlock } from '../../../src/chains/bitcoin/scan';
import { bitcoinCodec, localBitcoin } from '../../bitcoin';
import { coinbase, toBlock } from '../../bitcoin-blocks';

/** Block 0 of the main network: its only transaction has no witness. */
const genesis =
  '0100000000000000000000000000000000000000000000000000000000000000000000003ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a29ab5f49ffff001d1dac2b7c0101000000010000000000000000000000000000000000000000000000000000000000000000ffffffff4d04ffff001d0104455468652054696d65732030332f4a616e2f32303039204368616e63656c6c6f72206f6e206272696e6b206f66207365636f6e64206261696c6f757420666f722062616e6b73ffffffff0100f2052a01000000434104678afdb0fe5548271967f1a67130b7105cd6a828e03909a67962e0ea1f61deb649f6bc3f4cef38c4f35504e51ec112de5c384df7ba0b8d578a4c702b6bf11d5fac00000000';

const keyOf = (seed: number) => secp256k1.getPublicKey(Uint8Array.from(Buffer.alloc(32, seed)), true);
const [alice, bob, carol] = [bitcoinCodec.address(keyOf(1)), bitcoinCodec.address(keyOf(2)), bitcoinCodec.address(keyOf(3))];
const signature = Buffer.from(`30${'06'.repeat(70)}`, 'hex');
const scriptOf = ({ key }: { key: string }) => Uint8Array.from(Buffer.from(key, 'hex'));

interface Spend {
  seed: number;
  vout?: number;
  witness?: Uint8Array[];
  scriptSig?: Uint8Array;
}
function toTransaction(spends: Spend[], payments: [{ key: string }, bigint][]): Transaction {
  const transaction = new Transaction();
  transaction.version = 2;
  spends.forEach(({ seed, vout = 0, witness = [], scriptSig }, index) => {
    transaction.addInput(Uint8Array.from(Buffer.alloc(32, seed)), vout, 0xfffffffd, scriptSig);
    transaction.setWitness(index, witness);
  });
  for (const [to, amount] of payments) transaction.addOutput(scriptOf(to), amount);
  return transaction;
}
const spendOf = (seed: number, publicKey: Uint8Array): Spend => ({ seed, witness: [signature, publicKey] });

describe('blocks', () => {
  const some = toBlock([
    toTransaction(
      [spendOf(7, keyOf(1)), spendOf(8, keyOf(2))],
      [
        [alice, 1n],
        [bob, 2n ** 50n],
      ],
    ),
    toTransaction(
      Array.from({ length: 300 }, (_, index) => ({ seed: index % 250, vout: index })),
      [[carol, 3n]],
    ),
  ]);

  it.each([
    ['with witnesses and without', Buffer.from(some.toBuffer())],
    ['of the main network', Buffer.from(genesis, 'hex')],
  ])('%s: have the ids, inputs and outputs that bitcoinjs-lib reads', (_name, bytes) => {
    const expected = Block.fromBuffer(bytes);
    const block = parseBlock(bytes);
    expect(block.hash).toBe(expected.getId());
    expect(block.parentHash).toBe(
      Buffer.from(expected.prevHash ?? [])
        .reverse()
        .toString('hex'),
    );
    expect(block.transactions.map(({ id }) => id)).toEqual(expected.transactions?.map((transaction) => transaction.getId()));
    for (const [index, transaction] of (expected.transactions ?? []).entries()) {
      const { inputs, outputs } = block.transactions[index] ?? { inputs: [], outputs: [] };
      expect(inputs.map(({ resource }) => resource)).toEqual(
        transaction.ins.map(({ hash, index: vout }) => `${Buffer.from(hash).reverse().toString('hex')}:${vout}`),
      );
      expect(inputs.map(({ witness }) => witness.map((item) => item.toString('hex')))).toEqual(
        transaction.ins.map(({ witness }) => witness.map((item) => Buffer.from(item).toString('hex'))),
      );
      expect(outputs.map(({ amount, script }) => [amount, script.toString('hex')])).toEqual(
        transaction.outs.map(({ value, script }) => [value, Buffer.from(script).toString('hex')]),
      );
      expect(parseRawTransaction(Buffer.from(transaction.toBuffer())).id).toBe(transaction.getId());
    }
  });

  it('that end too early or go on behind their end are refused', () => {
    const bytes = Buffer.from(some.toBuffer());
    expect(() => parseBlock(bytes.subarray(0, -1))).toThrow(RangeError);
    expect(() => parseBlock(Buffer.concat([bytes, Buffer.alloc(1)]))).toThrow(/behind the end/);
    expect(() => parseBlock(Buffer.alloc(0))).toThrow(RangeError);
    // a number of transactions that the bytes cannot hold
    expect(() => parseBlock(Buffer.concat([bytes.subarray(0, 80), Buffer.from('feffffffff', 'hex')]))).toThrow(RangeError);
  });
});

describe('transactions that are not those of the header are refused:', () => {
  const spends = [
    toTransaction([spendOf(7, keyOf(1))], [[bob, 1n]]),
    toTransaction([spendOf(8, keyOf(1))], [[bob, 2n]]),
    toTransaction([spendOf(9, keyOf(1))], [[bob, 3n]]),
  ];
  const block = () => Block.fromBuffer(toBlock(spends).toBuffer());
  const change = (alter: (transactions: Transaction[]) => void) => {
    const changed = block();
    alter(changed.transactions ?? []);
    return () => parseBlock(Buffer.from(changed.toBuffer()));
  };
  const strip = (transaction: Transaction | undefined) => transaction?.ins.forEach((input) => (input.witness = []));

  it('one that is invented, left out, or there twice without a change of the root', () => {
    expect(parseBlock(Buffer.from(block().toBuffer())).transactions).toHaveLength(4);
    const invented = toTransaction([spendOf(1, keyOf(3))], [[alice, 1n]]);
    expect(change((list) => list.push(invented))).toThrow(/not those of the header/);
    expect(change((list) => list.splice(2, 1))).toThrow(/not those of the header/);
    const two = Block.fromBuffer(toBlock(spends.slice(0, 2)).toBuffer());
    two.transactions?.push(two.transactions[2] as Transaction);
    expect(Block.calculateMerkleRoot(two.transactions ?? [])).toEqual(two.merkleRoot);
    expect(() => parseBlock(Buffer.from(two.toBuffer()))).toThrow(/twice/);
  });

  it('one whose witness is taken away or changed, or the witnesses of all', () => {
    expect(change((list) => strip(list[1]))).toThrow(/not those of the block/);
    expect(change((list) => list[2]?.setWitness(0, [signature, keyOf(2)]))).toThrow(/not those of the block/);
    expect(change((list) => list.forEach(strip))).toThrow(/witness of the coinbase is missing/);
  });

  it('witnesses in a block that commits to none, and a block without or with a second coinbase', () => {
    const uncommitted = block();
    const [first] = uncommitted.transactions ?? [];
    first?.outs.pop();
    strip(first);
    uncommitted.merkleRoot = Block.calculateMerkleRoot(uncommitted.transactions ?? []);
    expect(() => parseBlock(Buffer.from(uncommitted.toBuffer()))).toThrow(/without a commitment/);
    for (const transactions of [spends, [coinbase(), coinbase(), ...spends]]) {
      const other = block();
      other.transactions = transactions;
      other.merkleRoot = Block.calculateMerkleRoot(transactions);
      expect(() => parseBlock(Buffer.from(other.toBuffer()))).toThrow(/one coinbase/);
    }
  });
});

describe('what an input shows of its output', () => {
  const spent = (spend: Spend) => {
    const { inputs } = parseRawTransaction(Buffer.from(toTransaction([spend], [[bob, 1n]]).toBuffer()));
    return findSpentScript(inputs[0] as (typeof inputs)[0]);
  };
  const push = (...items: Uint8Array[]) => Buffer.concat(items.flatMap((item) => [Buffer.from([item.length]), item]));

  it('P2WPKH and P2PKH: the key', () => {
    expect(spent(spendOf(1, keyOf(1)))).toBe(alice.key);
    expect(spent({ seed: 1, scriptSig: push(signature, keyOf(1)) })).toBe(`76a914${alice.key.slice(4)}88ac`);
  });

  it('P2WSH and P2SH: the script', () => {
    const script = Buffer.from('51', 'hex');
    const outputOf = (payment: { output?: Uint8Array }) => Buffer.from(payment.output ?? []).toString('hex');
    expect(spent({ seed: 1, witness: [signature, script] })).toBe(outputOf(scripts.p2wsh({ redeem: { output: script } })));
    expect(spent({ seed: 1, scriptSig: push(signature, script) })).toBe(outputOf(scripts.p2sh({ redeem: { output: script } })));
  });

  it('nothing: Taproot by key or script, and scripts that do more than push', () => {
    expect(spent({ seed: 1, witness: [Buffer.alloc(64, 1)] })).toBeNull();
    expect(spent({ seed: 1, witness: [Buffer.alloc(64, 1), Buffer.from('50aa', 'hex')] })).toBeNull();
    expect(
      spent({ seed: 1, witness: [Buffer.from('51', 'hex'), Buffer.concat([Buffer.from('c1', 'hex'), Buffer.alloc(32, 2)])] }),
    ).toBeNull();
    expect(spent({ seed: 1, scriptSig: Buffer.from('4c', 'hex') })).toBeNull();
    expect(spent({ seed: 1, scriptSig: Buffer.from('05aa', 'hex') })).toBeNull();
    expect(spent({ seed: 1, scriptSig: Buffer.from('76', 'hex') })).toBeNull();
    expect(spent({ seed: 1 })).toBeNull();
  });
});

describe('a scanned block', () => {
  const chain = localBitcoin({ confirmations: 3 });
  const ours = new Set([alice.key, bob.key]);
  const asked: string[][] = [];
  const scan = (transactions: Transaction[], first?: Transaction) =>
    scanBlock(regtest, chain, 100, Buffer.from(toBlock(transactions, first).toBuffer()), (keys) => {
      asked.push(keys);
      return Promise.resolve(new Set(keys.filter((key) => ours.has(key))));
    });

  it('has deposits from others, and to other accounts, but none of change', async () => {
    const fromCarol = toTransaction(
      [spendOf(1, keyOf(3))],
      [
        [alice, 10n],
        [carol, 20n],
        [alice, 30n],
      ],
    );
    const fromAlice = toTransaction(
      [spendOf(2, keyOf(1)), spendOf(3, keyOf(1))],
      [
        [bob, 40n],
        [alice, 50n],
      ],
    );
    const { deposits, transactions } = await scan([fromCarol, fromAlice]);
    const id = (transaction: Transaction) => transaction.getId();
    expect(
      deposits.map(({ txHash, position, fromAddress, toAddress, amount }) => [txHash, position, fromAddress, toAddress, amount]),
    ).toEqual([
      [id(fromCarol), '0', carol.address, alice.address, 10n],
      [id(fromCarol), '2', carol.address, alice.address, 30n],
      [id(fromAlice), '0', alice.address, bob.address, 40n],
    ]);
    expect(transactions.slice(1)).toEqual([
      { id: id(fromCarol), messageKey: null },
      { id: id(fromAlice), messageKey: id(fromAlice) },
    ]);
  });

  it('makes and spends outputs: change may be spent at once, deposits when they are credited, rewards after 100 blocks', async () => {
    const reward = coinbase([{ script: scriptOf(alice), amount: 1n }]);
    const fromAlice = toTransaction(
      [spendOf(2, keyOf(1))],
      [
        [bob, 40n],
        [alice, 50n],
      ],
    );
    const { outputs, deposits } = await scan([fromAlice], reward);
    expect(outputs).toEqual({
      made: [
        { resource: `${reward.getId()}:0`, owner: alice.key, madeBy: reward.getId(), amount: 1n, spendableFrom: 199 },
        { resource: `${fromAlice.getId()}:0`, owner: bob.key, madeBy: fromAlice.getId(), amount: 40n, spendableFrom: 102 },
        { resource: `${fromAlice.getId()}:1`, owner: alice.key, madeBy: fromAlice.getId(), amount: 50n, spendableFrom: 100 },
      ],
      spent: [{ resource: `${'02'.repeat(32)}:0`, by: fromAlice.getId() }],
      origins: [{ id: fromAlice.getId(), blockNumber: 100, inputs: [`${'02'.repeat(32)}:0`] }],
    });
    expect(deposits.map(({ fromAddress, confirmations }) => [fromAddress, confirmations])).toEqual([
      ['unknown', 100],
      [alice.address, undefined],
    ]);
  });

  it('spends every output that its inputs name, whatever they show', async () => {
    const taproot = toTransaction([{ seed: 7, witness: [Buffer.alloc(64, 1)] }, spendOf(8, keyOf(3))], [[carol, 1n]]);
    const { outputs } = await scan([taproot]);
    expect(outputs?.spent).toEqual([7, 8].map((seed) => ({ resource: `${`0${seed}`.repeat(32)}:0`, by: taproot.getId() })));
    expect(outputs?.origins).toEqual([]);
  });

  it('says what its deposits descend from within the block', async () => {
    const first = toTransaction([spendOf(1, keyOf(3))], [[carol, 5n]]);
    const second = new Transaction();
    second.version = 2;
    second.addInput(first.getHash(), 0);
    second.setWitness(0, [signature, keyOf(3)]);
    second.addOutput(scriptOf(alice), 4n);
    const unrelated = toTransaction([spendOf(2, keyOf(3))], [[carol, 1n]]);
    const { outputs } = await scan([first, second, unrelated]);
    expect(outputs?.origins).toEqual([
      { id: second.getId(), blockNumber: 100, inputs: [`${first.getId()}:0`] },
      { id: first.getId(), blockNumber: 100, inputs: [`${'01'.repeat(32)}:0`] },
    ]);
  });

  it('has neither deposits nor outputs of 0 satoshis', async () => {
    const fromCarol = toTransaction(
      [spendOf(1, keyOf(3))],
      [
        [alice, 0n],
        [bob, 1n],
      ],
    );
    const { outputs, deposits } = await scan([fromCarol]);
    expect(outputs?.made.map(({ owner, amount }) => [owner, amount])).toEqual([[bob.key, 1n]]);
    expect(deposits.map(({ position }) => position)).toEqual(['1']);
  });

  it('asks for P2WPKH addresses alone, each once', async () => {
    asked.length = 0;
    await scan([
      toTransaction(
        [spendOf(1, keyOf(3)), { seed: 9 }],
        [
          [carol, 1n],
          [bob, 2n],
          [{ key: `a914${'07'.repeat(20)}87` }, 3n],
        ],
      ),
    ]);
    expect(asked).toEqual([[carol.key, bob.key]]);
  });
});
