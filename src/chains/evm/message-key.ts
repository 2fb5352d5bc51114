import { serializeTransaction } from 'viem';
import type { ChainDefinition } from '../types';
import { parseChainId } from './chain-id';
import { messageKey } from './codec';
import type { RpcTransaction } from './rpc-types';

/**
 * The message key of a transaction as a node returns it, equal to messageKey of its unsigned bytes whatever its signature; null for
 * transactions of a kind that this gateway does not build.
 */
export function toMessageKey(transaction: RpcTransaction, chain: ChainDefinition): string | null {
  const { from, to, type = '0x0', accessList } = transaction;
  if (to === null || (accessList && accessList.length > 0)) return null;
  const common = {
    chainId: parseChainId(chain),
    nonce: Number(transaction.nonce),
    gas: BigInt(transaction.gas),
    to,
    value: BigInt(transaction.value),
    data: transaction.input === '0x' ? undefined : transaction.input,
  };
  const { maxFeePerGas, maxPriorityFeePerGas, gasPrice } = transaction;
  if (Number(type) === 2 && maxFeePerGas && maxPriorityFeePerGas) {
    const fees = { maxFeePerGas: BigInt(maxFeePerGas), maxPriorityFeePerGas: BigInt(maxPriorityFeePerGas) };
    return messageKey(serializeTransaction({ ...common, type: 'eip1559', ...fees }), from);
  }
  if (Number(type) !== 0 || !gasPrice) return null;
  return messageKey(serializeTransaction({ ...common, type: 'legacy', gasPrice: BigInt(gasPrice) }), from);
}
