import {
  formatTransaction,
  keccak256,
  recoverTransactionAddress,
  serializeTransaction,
  type RpcTransaction as ViemTransaction,
  type TransactionSerializable,
  type TransactionSerialized,
} from 'viem';
import type { ChainDefinition } from '../types';
import { parseChainId } from './chain-id';
import type { RpcTransaction } from './rpc-types';

/**
 * True when the fields that a node shows, serialised again, hash to the transaction's id and are signed by its sender for this chain:
 * the node has neither mistaken nor made up any of them. False also for types of transactions that are not known here.
 */
export async function isAuthentic(transaction: RpcTransaction, chain: ChainDefinition): Promise<boolean> {
  try {
    const serialized = serialize(transaction, parseChainId(chain));
    if (keccak256(serialized) !== transaction.hash.toLowerCase()) return false;
    const signer = await recoverTransactionAddress({ serializedTransaction: serialized });
    return signer.toLowerCase() === transaction.from.toLowerCase();
  } catch {
    // viem throws at fields that no transaction of the type can have
    return false;
  }
}

/** @throws Error for fields that do not make a transaction, or not one of this chain. */
function serialize(transaction: RpcTransaction, chainId: number): TransactionSerialized {
  const formatted = formatTransaction(transaction as unknown as ViemTransaction);
  const { r, s, v, yParity, input, to } = formatted;
  if (formatted.type === undefined) throw new Error('the type is unknown');
  const isBound = formatted.type !== 'legacy' || v >= 35n;
  const signedFor = formatted.type === 'legacy' ? Number((v - 35n) / 2n) : formatted.chainId;
  // the same key may have signed for another chain with the same nonce; signatures from before EIP-155 are for every chain
  if (isBound && signedFor !== chainId) throw new Error('the transaction is of another chain');
  const fields = { ...formatted, chainId: isBound ? chainId : undefined, data: input, to: to ?? undefined };
  return serializeTransaction(fields as unknown as TransactionSerializable, { r, s, v, yParity });
}
