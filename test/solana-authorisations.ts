import { ed25519 } from '@noble/curves/ed25519.js';
import { toPreparedAuthorisation } from '../src/chains/solana/authorise/codec';
import { toBase58 } from '../src/chains/solana/codec/base58';
import type { Hex, TransactionIntent } from '../src/chains/types';
import { solanaChain, solanaCodec, usdcMint } from './solana';

/** A payment that an account signs for somebody else to send, as one object, of which tests change single fields. */
export interface AuthorisedOnSolana {
  from: string;
  payTo: string;
  feePayer: string;
  /** Atomic units. */
  amount: bigint;
  token: string;
  program: 'token' | 'token-2022';
  decimals: number;
  units: number;
  price: bigint;
  memo: string | null;
  blockhash: string;
  /** Seconds since the epoch. */
  validBefore: bigint;
}

export const secretOf = (fill: number): Uint8Array => new Uint8Array(32).fill(fill);
const addressOf = (fill: number): string => toBase58(ed25519.getPublicKey(secretOf(fill)));

/** Seconds since the epoch. */
export const authorisedAt = 1_800_000_000;
/** Whose address `from` is. */
export const payerSecret = secretOf(8);

export const authorisedOnSolana: AuthorisedOnSolana = {
  ...{ from: addressOf(8), payTo: addressOf(9), feePayer: addressOf(7), amount: 1_000n, token: usdcMint },
  ...{ program: 'token', decimals: 6, units: 20_000, price: 1n, memo: '00112233445566778899aabbccddeeff' },
  ...{ blockhash: toBase58(Buffer.alloc(32, 5)), validBefore: BigInt(authorisedAt + 90) },
};

export function authorisedPlan(it: AuthorisedOnSolana) {
  const intent: TransactionIntent = {
    from: it.from,
    outputs: [{ recipient: it.payTo, tokenContract: it.token, amount: it.amount }],
    action: {
      ...{ type: 'authorisation', method: 'transaction', nonce: '00', seconds: 90, facilitator: it.feePayer },
      ...{ domain: null, withAllowance: false, ...(it.memo !== null && { memo: it.memo }) },
    },
  };
  const { blockhash, units, price, program, decimals } = it;
  const details = { blockhash, slot: 3_000, lastValidBlockHeight: 3_090, units, price };
  const prepared = toPreparedAuthorisation({ ...details, token: { program, decimals, creates: false } }, it.validBefore);
  return { chain: solanaChain, intent, kind: 'first' as const, prepared, resources: [] };
}

/** The bytes, as the authoriser has them built. */
export const buildAuthorisedOnSolana = (changes: Partial<AuthorisedOnSolana> = {}): Hex =>
  solanaCodec.build(authorisedPlan({ ...authorisedOnSolana, ...changes }));
