import { type Address, getAddress } from 'viem';
import type { Hex } from '../../types';
import { eip3009Abi, exactProxyAbi, uptoProxyAbi } from '../payments/contracts';
import { readSettlement, settlingFunctions } from '../payments/read-calldata';
import { toIdentity } from './bytes';

/** The payment that a transaction of somebody else carries out. */
export interface CarriedOut {
  /** Of the payer, in canonical form. */
  payerKey: string;
  identity: string;
}

const selectors: ReadonlySet<string> = new Set(
  [eip3009Abi, exactProxyAbi, uptoProxyAbi].flatMap((abi) => [...settlingFunctions(abi)]),
);

/**
 * The payment that a call carries out, from the call alone; null for any other call, and for one by way of another contract. Whether it
 * succeeds is not in it.
 */
export function readCarriedOut({ to, input }: { to: Hex | null; input: Hex }): CarriedOut | null {
  if (to === null || !selectors.has(input.slice(0, 10))) return null;
  try {
    const read = readSettlement({ to: getAddress(to), data: input });
    if (!read) return null;
    const { method, payer, nonce, token } = read.payment;
    const identity = toIdentity({ method, token: token.contract as Address, from: payer as Address, nonce: BigInt(nonce) });
    return { payerKey: payer.toLowerCase(), identity };
  } catch {
    // what no official facilitator sends; a payment of ours is then found by its nonce (status.ts)
    return null;
  }
}
