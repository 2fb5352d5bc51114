import type { Hex } from '../types';

/** Responses of an Ethereum node (execution-apis), as far as they are used here: quantities are hex strings. */
export interface RpcBlock {
  number: Hex;
  hash: Hex;
  parentHash: Hex;
  timestamp: Hex;
  logsBloom?: Hex;
  baseFeePerGas?: Hex;
  transactions: RpcTransaction[];
}

export interface RpcTransaction {
  hash: Hex;
  from: Hex;
  to: Hex | null;
  value: Hex;
  blockHash?: Hex | null;
  blockNumber?: Hex | null;
  nonce: Hex;
  gas: Hex;
  type?: Hex;
  gasPrice?: Hex;
  maxFeePerGas?: Hex;
  maxPriorityFeePerGas?: Hex;
  input: Hex;
  accessList?: unknown[] | null;
}

export interface RpcLog {
  address: Hex;
  topics: Hex[];
  data: Hex;
  blockNumber: Hex;
  blockHash: Hex;
  transactionHash: Hex;
  logIndex: Hex;
  removed?: boolean;
}

export interface RpcReceipt {
  transactionHash: Hex;
  status?: Hex;
  blockNumber: Hex;
  blockHash: Hex;
  gasUsed: Hex;
  effectiveGasPrice?: Hex;
  /** OP-stack chains: fee for the data on the L1, in wei. */
  l1Fee?: Hex;
  logs: RpcLog[];
  logsBloom?: Hex;
}

/** One entry of trace_block (OpenEthereum's format, also Erigon's, Nethermind's, Reth's and Anvil's). */
export interface RpcTrace {
  type: string;
  action: { callType?: string; from?: Hex; to?: Hex; value?: Hex; address?: Hex; refundAddress?: Hex; balance?: Hex };
  error?: string;
  traceAddress: number[];
  transactionHash?: Hex | null;
}

/** keccak256("Transfer(address,address,uint256)"), ERC-20. */
export const transferTopic: Hex = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

export const quantity = (value: number | bigint): Hex => `0x${value.toString(16)}`;

export interface TransferEvent {
  contractKey: string;
  fromKey: string;
  toKey: string;
  amount: bigint;
}

/** null for logs of another format (an indexed amount as in ERC-721, short data). */
export function transferEvent(log: RpcLog): TransferEvent | null {
  if (log.removed || log.topics.length !== 3 || log.topics[0] !== transferTopic || log.data.length !== 66) return null;
  return {
    contractKey: log.address.toLowerCase(),
    fromKey: `0x${(log.topics[1] as Hex).slice(26)}`.toLowerCase(),
    toKey: `0x${(log.topics[2] as Hex).slice(26)}`.toLowerCase(),
    amount: BigInt(log.data),
  };
}
