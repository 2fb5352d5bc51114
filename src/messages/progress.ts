import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { defineQuery } from '@temporalio/workflow';

/** Live state, returned by the `status` query of every workflow. */
export interface LiveStatus {
  step: string;
  attempt: number;
  detail: string;
}

export interface TimelineEntry {
  step: string;
  at: string;
  detail: string;
}

export const statusQuery = defineQuery<LiveStatus>('status');

export const timelineQuery = defineQuery<TimelineEntry[]>('timeline');

/** Custom search attributes: the development stack registers them at start; elsewhere `gateway temporal setup` does. */
export const searchAttributes = {
  clientId: defineSearchAttributeKey('ClientId', SearchAttributeType.KEYWORD),
  walletId: defineSearchAttributeKey('WalletId', SearchAttributeType.KEYWORD),
  txId: defineSearchAttributeKey('TxId', SearchAttributeType.KEYWORD),
  chain: defineSearchAttributeKey('Chain', SearchAttributeType.KEYWORD),
  tokenSymbol: defineSearchAttributeKey('TokenSymbol', SearchAttributeType.KEYWORD),
  txStatus: defineSearchAttributeKey('TxStatus', SearchAttributeType.KEYWORD),
  failureCode: defineSearchAttributeKey('FailureCode', SearchAttributeType.KEYWORD),
} as const;
