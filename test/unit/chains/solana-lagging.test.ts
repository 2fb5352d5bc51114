import { ed25519 } from '@noble/curves/ed25519.js';
import { address } from '@solana/kit';
import type { Payment } from '../../../src/chains/payments';
import { SolanaChainClient } from '../../../src/chains/solana/client';
import { messageHash } from '../../../src/chains/solana/codec/message-hash';
import { toBase58 } from '../../../src/chains/solana/codec/base58';
import { programs } from '../../../src/chains/solana/codec/programs';
import { SolanaPaymentClient } from '../../../src/chains/solana/payments/client';
import type { Hex, TokenDefinition, TransactionIntent } from '../../../src/chains/types';
import { solanaChain, usdcMint } from '../../solana';
import { transferToken } from '../../solana-chain';
import { StubError, StubNode } from '../../solana-node';
import { type Holder, limit, offer, price } from '../x402/solana/scene';

/** A payer's block hash is a few seconds old: a node that lags does not have the block yet, and another one does. */

const holder = (fill: number): Pick<Holder, 'secret' | 'address'> => {
  const secret = new Uint8Array(32).fill(fill);
  return { secret, address: address(toBase58(ed25519.getPublicKey(secret))) };
};
const [settler, payer, seller] = [7, 8, 9].map(holder) as [Holder, Holder, Holder];

let [lagging, other]: StubNode[] = [];
let transaction: Buffer;
beforeEach(async () => {
  [lagging, other] = [await StubNode.start(), await StubNode.start()];
  const instructions = [limit(), price(), await transferToken(payer.address, seller.address, 1_000n, usdcMint)];
  const blockhash = toBase58(Buffer.alloc(32, 5));
  transaction = Buffer.from(offer({ settler, payer, blockhash }, { instructions }), 'base64');
  lagging.simulation = { err: 'BlockhashNotFound', unitsConsumed: 0 };
});
afterEach(() => Promise.all([lagging?.stop(), other?.stop()]));

const urls = () => [lagging, other].map((node) => (node as StubNode).url);
const hex = (): Hex => `0x${transaction.toString('hex')}`;
const token = solanaChain.tokens.find(({ contract }) => contract === usdcMint) as TokenDefinition;
const simulate = () =>
  new SolanaPaymentClient(solanaChain, urls()).simulate({ signature: hex(), token } as Partial<Payment> as Payment);
const broadcast = () => new SolanaChainClient(solanaChain, urls()).broadcast(hex());

function prepare(endpoints = urls()) {
  const nonce = messageHash(transaction.subarray(129));
  const intent: TransactionIntent = {
    from: settler.address,
    outputs: [{ recipient: seller.address, tokenContract: usdcMint, amount: 1_000n }],
    action: {
      ...{ type: 'settlement', method: 'transaction', payer: payer.address, nonce, authorised: '1000', signature: hex() },
      ...{ validAfter: '0', validBefore: '2000000000' },
    },
  };
  return new SolanaChainClient(solanaChain, endpoints).prepare({ kind: 'first', intent, previous: [] });
}

const refusing = () => {
  throw new StubError(-32_002, { err: 'BlockhashNotFound' });
};

test('another endpoint says whether the payment would be executed', async () => {
  await expect(simulate()).resolves.toHaveProperty('payment');
  await expect(prepare()).resolves.toMatchObject({ feeBound: '10001', expiry: { notAfter: other?.head.slot } });
  lagging?.faults.set('sendTransaction', refusing);
  expect(await broadcast()).toEqual({ outcome: 'accepted' });
  expect(other?.sent).toHaveLength(1);
});

test('it has expired once every endpoint says so', async () => {
  for (const node of [lagging, other]) {
    (node as StubNode).simulation = { err: 'BlockhashNotFound', unitsConsumed: 0 };
    node?.faults.set('sendTransaction', refusing);
  }
  expect(await simulate()).toEqual({ reason: 'invalid_exact_svm_transaction_simulation_failed' });
  await expect(prepare()).rejects.toMatchObject({ code: 'expired' });
  expect(await broadcast()).toMatchObject({ outcome: 'waiting' });
});

describe('what the chain would execute now', () => {
  const blockhash = Buffer.alloc(32, 5);
  /** As the chain keeps it when so many blocks are behind the one of the payment. */
  function recentWith(age: number): Buffer {
    const hashes = Array.from({ length: 150 }, (_, index) => (index === age ? blockhash : Buffer.alloc(32, 200)));
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(150n);
    return Buffer.concat([length, ...hashes.flatMap((hash) => [hash, Buffer.alloc(8)])]);
  }
  const keep = (address: string, owner: string, data: Buffer) =>
    [lagging, other].forEach((node) => node?.accounts.set(address, { lamports: 1, owner, data }));
  const sysvar = 'Sysvar1111111111111111111111111111111111111';

  test.each([
    [0, true],
    [120, true],
    [121, false],
    [149, false],
    // of a block that is newer than the account
    [-1, true],
  ])('with a block hash %i blocks old: taken is %s', async (age, isTaken) => {
    keep('SysvarRecentB1ockHashes11111111111111111111', sysvar, recentWith(age));
    const reason = 'invalid_exact_svm_transaction_simulation_failed';
    expect(await simulate()).toEqual(isTaken ? { payment: expect.anything() as object } : { reason });
  });

  test.each([
    ['a fee of its own', 1, false],
    ['no transfers', 9, false],
    ['a hook', 14, false],
    ['a name alone', 19, true],
  ])('of a token with %s (extension %i): taken is %s', async (_, extension, isTaken) => {
    const data = Buffer.alloc(174);
    [data[44], data[45]] = [6, 1];
    data.writeUInt16LE(extension, 166);
    keep(usdcMint, toBase58(programs.token2022), data);
    const reason = 'invalid_payment_requirements';
    expect(await simulate()).toEqual(isTaken ? { payment: expect.anything() as object } : { reason });
  });
});

test('it is not known while another endpoint refuses to tell, or does not answer', async () => {
  other?.faults.set('simulateTransaction', () => {
    throw new StubError(-32_005);
  });
  await expect(simulate()).rejects.toMatchObject({ code: 'chain_unavailable' });
  await expect(prepare()).rejects.toMatchObject({ code: 'not_estimated' });
  await expect(prepare([(lagging as StubNode).url, 'http://127.0.0.1:1'])).rejects.toMatchObject({ code: 'not_estimated' });
});

test('a settler that has too little for the fee, by one endpoint: another one is asked; by all of them: no outage', async () => {
  (lagging as StubNode).simulation = { err: 'InsufficientFundsForFee', unitsConsumed: 0 };
  await expect(prepare()).resolves.toMatchObject({ feeBound: '10001' });
  (other as StubNode).simulation = { err: { InsufficientFundsForRent: { account_index: 0 } }, unitsConsumed: 0 };
  await expect(prepare()).rejects.toMatchObject({
    ...{ code: 'not_estimated', message: 'solana: the settler has less SOL than the transaction takes' },
  });
});

test('what is wrong with the payment itself counts at once', async () => {
  (lagging as StubNode).simulation = { err: { InstructionError: [2, { Custom: 1 }] }, unitsConsumed: 0 };
  expect(await simulate()).toEqual({ reason: 'invalid_exact_svm_transaction_simulation_failed' });
  await expect(prepare()).rejects.toMatchObject({ code: 'would_revert' });
  expect(other?.calls).toEqual([]);
});
