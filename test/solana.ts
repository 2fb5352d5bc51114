import { ed25519 } from '@noble/curves/ed25519.js';
import fc from 'fast-check';
import { createSolanaCodec } from '../src/chains/solana/codec';
import { toBase58 } from '../src/chains/solana/codec/base58';
import { isUsable } from '../src/chains/solana/codec/address';
import { maxPrice, maxUnits } from '../src/chains/solana/codec/transaction';
import type { UnsignedTransaction } from '../src/chains/solana/codec/unsigned';
import { type SolanaDetails, toPrepared } from '../src/chains/solana/details';
import { local } from '../src/chains/solana/network';
import type { TransactionPlan } from '../src/chains/family';
import { solana } from '../src/chains/registry/solana';
import type { ChainDefinition, Hex, TransactionIntent } from '../src/chains/types';

export const solanaCodec = createSolanaCodec(local);
export const usdcMint = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
export const [solanaChain] = solana.local as [ChainDefinition];

/** A signature as the nodes make it: RFC 8032, over the message itself. */
export const signMessage = (message: Hex, key: Uint8Array): Hex =>
  `0x${Buffer.from(ed25519.sign(Buffer.from(message.slice(2), 'hex'), key)).toString('hex')}`;

export const planOf = (intent: TransactionIntent, details: Partial<SolanaDetails> = {}): TransactionPlan => ({
  chain: solanaChain,
  intent,
  kind: 'first',
  resources: [],
  prepared: toPrepared(
    {
      ...{ blockhash: toBase58(Buffer.alloc(32, 7)), slot: 3_000, lastValidBlockHeight: 3_090, units: 40_000, price: 10_000n },
      token: intent.outputs[0]?.tokenContract ? { program: 'token', decimals: 6, creates: true } : null,
      ...details,
    },
    3_000_000n,
  ),
});

export const buildSolana = (intent: TransactionIntent, details?: Partial<SolanaDetails>): Hex =>
  solanaCodec.build(planOf(intent, details));

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length }).map((array) => Buffer.from(array));
const owners = bytes(32).map((seed) => Buffer.from(ed25519.getPublicKey(seed)));
const addresses = bytes(32).filter(isUsable);
const tokens = fc.record({
  mint: addresses,
  program: fc.constantFrom('token' as const, 'token-2022' as const),
  decimals: fc.nat(255),
  creates: fc.boolean(),
});

/** Any transaction that the codec builds. */
export const transactions: fc.Arbitrary<UnsignedTransaction> = fc
  .record({
    ...{ owner: owners, recipient: addresses, blockhash: bytes(32) },
    amount: fc.oneof(fc.bigInt(1n, 1_000n), fc.bigInt(1n, 2n ** 64n - 1n)),
    token: fc.option(tokens),
    ...{ units: fc.integer({ min: 1, max: maxUnits }), price: fc.bigInt(0n, maxPrice) },
    memo: fc.option(
      fc.string({ minLength: 1, maxLength: 100, unit: 'grapheme' }).filter((text) => Buffer.byteLength(text) <= 400),
    ),
  })
  .filter(({ owner, recipient, token }) => !recipient.equals(owner) && !token?.mint.equals(recipient));
