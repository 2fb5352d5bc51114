import type { RpcReceipt } from './rpc-types';
import { bloomOf } from './scan/bloom';

/**
 * Bor, the node software of polygon, logs the fee of a transaction (LogFeeTransfer) at the address of its native coin's contract, whether the
 * transaction was reverted or not. Other chains have no contract there.
 */
const feeLogger = '0x0000000000000000000000000000000000001010';

/**
 * Nodes have shown receipts without their logs, or with a part of them. The bloom filter of a receipt is that of all its logs, and what was
 * reverted has none of its own (yellow paper, 4.4.1 and 6).
 * @throws Error for a receipt that contradicts itself, that is of another transaction, or that has no bloom filter
 */
export function assertWhole({ transactionHash, status, logs, logsBloom }: RpcReceipt, id: string): void {
  if (transactionHash.toLowerCase() !== id.toLowerCase()) throw new Error('the receipt is of another transaction');
  const hasOwn = logs.some(({ address }) => address.toLowerCase() !== feeLogger);
  if (status === undefined || (status !== '0x1' && hasOwn)) throw new Error('the receipt contradicts itself');
  if (logsBloom?.toLowerCase() !== bloomOf(logs)) throw new Error('the logs of the receipt are not those of its bloom filter');
}
