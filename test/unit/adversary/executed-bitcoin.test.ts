import { secp256k1 } from '@noble/curves/secp256k1.js';
import { Transaction } from 'bitcoinjs-lib';
import { ExecutedOnBitcoin } from '../../adversary/executed-bitcoin';
import { bitcoinCodec, buildBitcoin, signDigests } from '../../bitcoin';

/** What accounts of the gateway have signed of transactions that spend outputs. */

const privateKey = Uint8Array.from(Buffer.alloc(32, 5));
const { address: from, key: script } = bitcoinCodec.address(secp256k1.getPublicKey(privateKey, true));
const other = bitcoinCodec.address(secp256k1.getPublicKey(Uint8Array.from(Buffer.alloc(32, 7)), true));
const bytesOf = (hex: string) => Uint8Array.from(Buffer.from(hex, 'hex'));

/** Pays the account twice, and somebody else between the two. */
function funding(): Transaction {
  const transaction = new Transaction();
  transaction.addInput(Uint8Array.from(Buffer.alloc(32, 3)), 0);
  for (const [paid, amount] of [
    [script, 50_000n],
    [other.key, 70_000n],
    [script, 30_000n],
  ] as const)
    transaction.addOutput(bytesOf(paid), amount);
  return transaction;
}

/** Spends what the account was paid: with its digests, as orders name them. */
function spending(): { transaction: Transaction; digests: string[] } {
  const id = funding().getId();
  const unsigned = buildBitcoin({
    ...{ kind: 'first', from, payments: [{ to: other.address, amount: 40_000n }], fee: 500n },
    coins: [
      { resource: `${id}:0`, amount: 50_000n },
      { resource: `${id}:2`, amount: 30_000n },
    ],
  });
  const digests = bitcoinCodec.signingPayloads(unsigned, from).map(({ digest }) => digest);
  const { bytes } = bitcoinCodec.assemble(unsigned, signDigests(digests, privateKey), from);
  return { transaction: Transaction.fromHex(bytes.slice(2)), digests };
}

test('each input that spends an output of an account, with the digest that was signed', () => {
  const executed = new ExecutedOnBitcoin(new Map([[script, 'client']]));
  const { transaction, digests } = spending();
  expect(executed.next(funding())).toEqual([]);
  expect(executed.next(transaction)).toEqual(
    digests.map((digest, at) => ({ subject: `input ${at} of ${transaction.getId()} on bitcoin`, digest, owner: 'client' })),
  );
});

test('other bytes have other digests', () => {
  const executed = new ExecutedOnBitcoin(new Map([[script, 'client']]));
  const { transaction, digests } = spending();
  executed.next(funding());
  const [payment] = transaction.outs;
  if (payment) payment.value -= 1n;
  for (const [at, { digest }] of executed.next(transaction).entries()) expect(digest).not.toBe(digests[at]);
});

test('change is spent as well, and nothing of others is', () => {
  const executed = new ExecutedOnBitcoin(new Map([[other.key, 'house']]));
  const { transaction } = spending();
  expect(executed.next(funding())).toEqual([]);
  expect(executed.next(transaction)).toEqual([]);
  const next = new Transaction();
  next.addInput(transaction.getHash(), 0);
  next.addInput(transaction.getHash(), 1);
  next.addOutput(bytesOf(script), 1_000n);
  expect(executed.next(next)).toMatchObject([{ subject: expect.stringContaining('input 0 of'), owner: 'house' }]);
});
