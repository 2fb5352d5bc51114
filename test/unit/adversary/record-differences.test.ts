import { keccak256, parseTransaction, serializeTransaction, type Transaction } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { differencesOf, type Records } from '../../adversary/record-differences';

/** The check at the end of the tests with killed processes must be able to fail. */

const sender = privateKeyToAccount(`0x${'11'.repeat(32)}`);
const unsigned = {
  ...{ chainId: 1, nonce: 3, gas: 21_000n, to: sender.address, value: 5n, type: 'eip1559' as const },
  ...{ maxFeePerGas: 2_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n },
};
const onChain = async (): Promise<{ transaction: Transaction; digest: string; hash: string }> => {
  const signed = await sender.signTransaction(unsigned);
  const hash = keccak256(signed);
  const { r, s, v, yParity, ...fields } = parseTransaction(signed);
  const digest = keccak256(serializeTransaction(unsigned));
  const transaction = { ...fields, r, s, v, yParity, from: sender.address, hash, input: '0x', to: unsigned.to };
  return { transaction: transaction as unknown as Transaction, digest, hash };
};
const complete = (digest: string): Records => ({
  addresses: new Set([sender.address.toLowerCase()]),
  ordered: new Set([digest]),
  entries: new Map([
    [
      digest,
      [
        { node: 1, peer: 3 },
        { node: 3, peer: 1 },
      ],
    ],
  ]),
});

test('a transaction with its order and the entries of both nodes is in order', async () => {
  const { transaction, digest } = await onChain();
  expect(differencesOf(transaction, 'ethereum', complete(digest))).toEqual([]);
});

test('a missing order is named', async () => {
  const { transaction, digest, hash } = await onChain();
  const records = { ...complete(digest), ordered: new Set<string>() };
  expect(differencesOf(transaction, 'ethereum', records)).toEqual([`${hash} on ethereum has no order`]);
});

test.each([
  ['of one node alone', [{ node: 1, peer: 3 }]],
  [
    'of two nodes that do not name each other',
    [
      { node: 1, peer: 3 },
      { node: 3, peer: 2 },
    ],
  ],
  ['of no node', []],
])('entries %s are named', async (_, pairs) => {
  const { transaction, digest, hash } = await onChain();
  const records = { ...complete(digest), entries: new Map([[digest, pairs]]) };
  expect(differencesOf(transaction, 'ethereum', records)).toEqual([
    `${hash} on ethereum has entries of ${JSON.stringify(pairs)}`,
  ]);
});

test('records of other bytes do not count, and what others have sent needs none', async () => {
  const { transaction, digest, hash } = await onChain();
  const records = complete(digest);
  const other = { ...transaction, value: 6n };
  expect(differencesOf(other, 'ethereum', records)).toHaveLength(2);
  expect(differencesOf(other, 'ethereum', records)[0]).toContain(hash);
  expect(differencesOf(other, 'ethereum', { ...records, addresses: new Set() })).toEqual([]);
});
