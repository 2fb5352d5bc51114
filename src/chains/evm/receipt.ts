import type { RpcReceipt } from './rpc-types';
import { bloomOf } from './scan/bloom';

/**
 * Nodes have shown receipts without their logs, or with a part of them. The bloom filter of a receipt is that of all its logs, and what was
 * reverted has none (yellow paper, 4.4.1 and 6).
 * @throws Error for a receipt that contradicts itself, that is of another transaction, or that has no bloom filter
 */
export function assertWhole({ transactionHash, status, logs, logsBloom }: RpcReceipt, id: string): void {
  if (transactionHash.toLowerCase() !== id.toLowerCase()) throw new Error('the receipt is of another transaction');
  if (status === undefined || (status !== '0x1' && logs.length > 0)) throw new Error('the receipt contradicts itself');
  if (logsBloom?.toLowerCase() !== bloomOf(logs)) throw new Error('the logs of the receipt are not those of its bloom filter');
}
