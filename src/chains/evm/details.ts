import type { JsonObject, Prepared } from '../types';

/** Gas and prices of one transaction; atomic units of the native coin. EIP-1559 when maxFeePerGas is given, else legacy. */
export interface GasFees {
  gasLimit: bigint;
  maxFeePerGas: bigint | null;
  maxPriorityFeePerGas: bigint | null;
  gasPrice: bigint | null;
}

export interface EvmDetails extends GasFees {
  /** Number of mined transactions of the sender: all lower nonces are used up. */
  minedNonce: number;
}

/** Highest fee of a transaction with these details, `l1DataFee` included. */
export function toPrepared(
  { gasLimit, maxFeePerGas, maxPriorityFeePerGas, gasPrice, minedNonce }: EvmDetails,
  l1DataFee: bigint,
): Prepared {
  const price = maxFeePerGas ?? gasPrice;
  if (price === null) throw new Error('the fees contain no price');
  return {
    feeBound: (gasLimit * price + l1DataFee).toString(),
    expiry: null,
    details: {
      gasLimit: gasLimit.toString(),
      maxFeePerGas: maxFeePerGas?.toString() ?? null,
      maxPriorityFeePerGas: maxPriorityFeePerGas?.toString() ?? null,
      gasPrice: gasPrice?.toString() ?? null,
      minedNonce,
    },
  };
}

/** @throws Error for details that toPrepared has not made. */
export function readDetails({ details }: Prepared): EvmDetails {
  const it = (details ?? {}) as JsonObject;
  const gasLimit = readAmount(it.gasLimit);
  if (gasLimit === null || typeof it.minedNonce !== 'number') throw new Error('the prepared details are not of an EVM chain');
  return {
    gasLimit,
    maxFeePerGas: readAmount(it.maxFeePerGas),
    maxPriorityFeePerGas: readAmount(it.maxPriorityFeePerGas),
    gasPrice: readAmount(it.gasPrice),
    minedNonce: it.minedNonce,
  };
}

const readAmount = (value: unknown): bigint | null => (typeof value === 'string' ? BigInt(value) : null);
