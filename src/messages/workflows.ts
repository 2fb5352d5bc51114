/** Names and shapes of every signal, update and query: versioned contracts between the API, the follower and workflows. */
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type {
  ChainObservation,
  LockedTransfer,
  RequestedBy,
  TransferAccepted,
  TransferRequest,
  DeliveryStream,
} from './activities';
import type { FailureCode } from '../platform/codes';

export const workflowTypes = {
  transfer: 'transfer',
  generateKey: 'generateKey',
  followChain: 'followChain',
  deliverWebhooks: 'deliverWebhooks',
  distributeBlacklist: 'distributeBlacklist',
} as const;

export const transferWorkflowId = (txId: string): string => `transfer-${txId}`;
export const generateKeyWorkflowId = (walletId: string): string => `generate-key-${walletId}`;
export const distributeBlacklistWorkflowId = (clientId: string): string => `distribute-blacklist-${clientId}`;
export const followChainWorkflowId = (chain: string): string => `follow-${chain}`;
export const webhookWorkflowId = ({ webhookId, subjectId }: DeliveryStream): string => `webhook-${webhookId}-${subjectId}`;

export interface TransferWorkflowInput {
  txId: string;
  clientId: string;
  /**
   * Set when the run continues an earlier one whose history had grown long, or that was lost: an operator's start leaves
   * the lock to the update `submit`.
   */
  continued?: { lock?: LockedTransfer; attempt: number; submitted: boolean };
}

export interface TransferWorkflowResult {
  txId: string;
  status: string;
  code: FailureCode | null;
}

export interface GenerateKeyWorkflowInput {
  walletId: string;
  clientId: string;
  /** Key generations begun by earlier runs of this workflow; key ids never repeat. */
  attemptsBefore?: number;
}

export interface DistributeBlacklistWorkflowInput {
  clientId: string;
}

export interface FollowChainWorkflowInput {
  chain: string;
}

/** Live view, answered by the `status` query of every workflow. */
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

/** Locks the funds; its answer is the answer of POST /transfer. updateId is the tx_id. */
export const submitUpdate = defineUpdate<TransferAccepted, [TransferRequest]>('submit');
/** Cancels before signing has begun; fails with not_cancellable after. */
export const cancelUpdate = defineUpdate<{ status: string }, [RequestedBy | undefined]>('cancel');
/** Somebody has approved the transfer: it is on record already, so that hearing of it twice or never does no harm. */
export const transferApprovedSignal = defineSignal('approved');
/** Operators: resume a transfer parked in NEEDS_ATTENTION. */
export const retryUpdate = defineUpdate<{ status: string }>('retry');
/** Operators: give a transfer up that is parked after its signing has begun; a no-op uses up its nonce. Fails with business_error otherwise. */
export const abandonUpdate = defineUpdate<{ status: string }>('release');
/** What the follower saw of this transfer's transactions. */
export const chainObservedSignal = defineSignal<[ChainObservation]>('observed');
/** A webhook lane has deliveries to make. */
export const deliveriesPendingSignal = defineSignal('deliveriesWait');
/** The client's blacklist has changed: its nodes' copies have to follow. */
export const blacklistChangedSignal = defineSignal('blacklistChanged');
export const statusQuery = defineQuery<LiveStatus>('status');
export const timelineQuery = defineQuery<TimelineEntry[]>('timeline');

/** Custom search attributes: registered at start of the dev server; elsewhere by `gateway temporal setup`. */
export const searchAttributes = {
  clientId: defineSearchAttributeKey('ClientId', SearchAttributeType.KEYWORD),
  walletId: defineSearchAttributeKey('WalletId', SearchAttributeType.KEYWORD),
  txId: defineSearchAttributeKey('TxId', SearchAttributeType.KEYWORD),
  chain: defineSearchAttributeKey('Chain', SearchAttributeType.KEYWORD),
  tokenSymbol: defineSearchAttributeKey('TokenSymbol', SearchAttributeType.KEYWORD),
  txStatus: defineSearchAttributeKey('TxStatus', SearchAttributeType.KEYWORD),
  failureCode: defineSearchAttributeKey('FailureCode', SearchAttributeType.KEYWORD),
} as const;
