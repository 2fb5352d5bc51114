import { secp256k1 } from '@noble/curves/secp256k1.js';
import fc from 'fast-check';
import { createTronCodec } from '../src/chains/tron/codec';
import { toAddress } from '../src/chains/tron/codec/address';
import { encode, type UnsignedTransaction } from '../src/chains/tron/codec/transaction';
import { toPrepared } from '../src/chains/tron/details';
import { local } from '../src/chains/tron/network';
import type { TransactionPlan } from '../src/chains/family';
import { loadRegistry } from '../src/chains/registry';
import type { Hex, TransactionIntent } from '../src/chains/types';

export const tronCodec = createTronCodec(local);
export const usdtContract = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
export const tronChain = () => loadRegistry('local', ['tron']).get('tron');

/** A signature as the nodes make it: r, s and recovery id. */
export function signDigest(digest: Hex, key: Uint8Array): Hex {
  const signature = secp256k1.sign(Buffer.from(digest.slice(2), 'hex'), key, { prehash: false, format: 'recovered' });
  return `0x${Buffer.from([...signature.subarray(1), signature[0] as number]).toString('hex')}`;
}

interface Facts {
  expiration?: number;
  timestamp?: number;
  feeLimit?: bigint;
  reference?: { number: string; id: string };
}

export const planOf = (intent: TransactionIntent, facts: Facts = {}): TransactionPlan => ({
  chain: tronChain(),
  intent,
  kind: 'first',
  resources: [],
  prepared: toPrepared(
    {
      reference: { number: '2927', id: '939ece39d08a7abe' },
      ...{ expiration: 1_777_447_527_000, timestamp: 1_777_447_470_038 },
      feeLimit: intent.outputs[0]?.tokenContract ? 20_000_000n : 0n,
      ...facts,
    },
    30_000_000n,
  ),
});

export const buildTron = (intent: TransactionIntent, facts?: Facts): Hex => tronCodec.build(planOf(intent, facts));

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length }).map((array) => Buffer.from(array));
const addresses = bytes(20)
  .map((body) => Buffer.concat([Buffer.from('41', 'hex'), body]))
  .filter((it) => it.some((byte, index) => index > 0 && byte > 0));
const times = fc.bigInt(1n, 9_000_000_000_000n);

/** Any transaction that the codec builds. */
export const transactions: fc.Arbitrary<UnsignedTransaction> = fc
  .record({
    owner: addresses,
    recipient: addresses,
    token: fc.option(addresses),
    amount: fc.oneof(fc.bigInt(1n, 1_000n), fc.bigInt(1n, 2n ** 63n - 1n)),
    reference: fc.record({ number: bytes(2), id: bytes(8) }),
    ...{ expiration: times, timestamp: times, feeLimit: fc.bigInt(1n, 15_000_000_000n) },
    memo: fc.option(
      fc.string({ minLength: 1, maxLength: 100, unit: 'grapheme' }).filter((text) => Buffer.byteLength(text) <= 400),
    ),
  })
  .filter(({ token, owner, recipient }) => token !== null || !owner.equals(recipient))
  .map(({ recipient, token, amount, feeLimit, ...rest }) => ({
    ...rest,
    call: { recipient, token, amount },
    feeLimit: token === null ? 0n : feeLimit,
  }));

export const encodeTron = encode;
export const show = (address: Buffer): string => toAddress(address).address;
