import {
  parseTransaction,
  serializeTransaction,
  type TransactionSerializableEIP1559,
  type TransactionSerializableLegacy,
} from 'viem';
import type { Hex } from '../../types';
import type { GasFees } from '../details';

/** The transactions this gateway builds: EIP-1559 (type 2) and EIP-155 legacy. */
export type Unsigned =
  (TransactionSerializableEIP1559 & { type: 'eip1559' }) | (TransactionSerializableLegacy & { type: 'legacy' });

/** Minimum gas of any transaction (yellow paper, G_transaction). */
const minGas = 21_000n;
/** No chain of the registry has blocks with a higher limit; bounds the cost that bytes can state. */
export const maxGas = 30_000_000n;
/** 79 billion coins per gas: keeps gas × fee within numeric(78,0) for any bytes. */
const maxFeePerGasLimit = 2n ** 96n;

/** A payment has less than 200 bytes; a settlement with the longest signature and an allowance about 2,700. */
const maxBytes = 4_096;

/** @throws Error unless the resources are one nonce. */
export function toNonce(resources: string[]): number {
  const [resource = '', ...others] = resources;
  if (others.length > 0 || !/^(0|[1-9]\d*)$/.test(resource)) throw new Error('a transaction uses one nonce');
  return Number(resource);
}

export function withFees<T extends object>(common: T, { maxFeePerGas, maxPriorityFeePerGas, gasPrice }: GasFees) {
  if (maxFeePerGas !== null && maxPriorityFeePerGas !== null)
    return { ...common, type: 'eip1559' as const, maxFeePerGas, maxPriorityFeePerGas };
  if (gasPrice === null) throw new Error('a plan needs EIP-1559 fees or a gas price');
  return { ...common, type: 'legacy' as const, gasPrice };
}

/**
 * Decodes and checks all but what is called: bytes that serialise differently, carry an access list or a signature, or have any other
 * type are refused.
 */
export function decode(unsigned: Hex): Unsigned {
  if (unsigned.length > 2 + 2 * maxBytes || !/^0x(?:[0-9a-f]{2})+$/.test(unsigned))
    throw new Error(`unsigned bytes are lower-case hex, at most ${maxBytes} bytes`);
  const parsed = parseTransaction(unsigned) as TransactionSerializableEIP1559 | TransactionSerializableLegacy;
  if (parsed.type !== 'eip1559' && parsed.type !== 'legacy')
    throw new Error('only EIP-1559 and EIP-155 legacy transactions are signed');
  const transaction = parsed as Unsigned;
  if (serializeTransaction(transaction) !== unsigned) throw new Error('the bytes are not in canonical form');
  if (transaction.r !== undefined || transaction.s !== undefined) throw new Error('the transaction is already signed');
  if (!transaction.chainId || !Number.isSafeInteger(transaction.chainId))
    throw new Error('the transaction is not bound to a chain (EIP-155)');
  if (transaction.type === 'eip1559' && (transaction as TransactionSerializableEIP1559).accessList?.length)
    throw new Error('access lists are not used');
  if (!transaction.to) throw new Error('contract creations are not signed');
  if (!Number.isSafeInteger(transaction.nonce)) throw new Error('the nonce is out of range');
  if (!transaction.gas || transaction.gas < minGas || transaction.gas > maxGas) throw new Error('the gas limit is out of range');
  const fee = feePerGas(transaction);
  if (fee === 0n || fee > maxFeePerGasLimit) throw new Error('the fee per gas is out of range');
  return transaction;
}

/** Atomic units of the native coin. */
export const feePerGas = (transaction: Unsigned): bigint =>
  (transaction.type === 'eip1559' ? transaction.maxFeePerGas : transaction.gasPrice) ?? 0n;

/** Fees in the bytes; atomic units of the native coin per gas. */
export function feesIn(unsigned: Hex): GasFees {
  const transaction = decode(unsigned);
  const gasLimit = transaction.gas as bigint;
  return transaction.type === 'eip1559'
    ? {
        gasLimit,
        maxFeePerGas: transaction.maxFeePerGas ?? 0n,
        maxPriorityFeePerGas: transaction.maxPriorityFeePerGas ?? 0n,
        gasPrice: null,
      }
    : { gasLimit, maxFeePerGas: null, maxPriorityFeePerGas: null, gasPrice: transaction.gasPrice ?? 0n };
}
