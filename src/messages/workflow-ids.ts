import type { JournalRequest } from './journal';
import type { OrdersQuestion } from './seen-orders';
import type { DeliveryStream } from './webhooks';

export const workflowTypes = {
  transfer: 'transfer',
  cancelReopened: 'cancelReopened',
  generateKey: 'generateKey',
  generateAccountKey: 'generateAccountKey',
  fillKeyPool: 'fillKeyPool',
  bindKeyAgain: 'bindKeyAgain',
  followChain: 'followChain',
  deliverWebhooks: 'deliverWebhooks',
  distributeBlacklist: 'distributeBlacklist',
  readJournals: 'readJournals',
  readOrders: 'readOrders',
} as const;

export const transferWorkflowId = (txId: string): string => `transfer-${txId}`;

/** Beside the workflow of the transfer, which has ended. */
export const cancelReopenedWorkflowId = (txId: string): string => `cancel-${txId}`;

export const generateKeyWorkflowId = (walletId: string): string => `generate-key-${walletId}`;

export const generateAccountKeyWorkflowId = (accountId: string): string => `generate-account-key-${accountId}`;

/** One at a time: the nodes generate one key at a time. */
export const fillKeyPoolWorkflowId = 'fill-key-pool';

/** One at a time for a wallet. */
export const bindKeyAgainWorkflowId = (walletId: string): string => `bind-key-${walletId}`;

export const distributeBlacklistWorkflowId = (clientId: string): string => `distribute-blacklist-${clientId}`;

/** One for each question. */
export const readJournalsWorkflowId = ({ txId, nonce }: JournalRequest): string => `read-journals-${txId}-${nonce}`;

/** One for each question. */
export const readOrdersWorkflowId = ({ nonce }: OrdersQuestion): string => `read-orders-${nonce}`;

export const followChainWorkflowId = (chain: string): string => `follow-${chain}`;

export const webhookWorkflowId = ({ webhookId, subjectId }: DeliveryStream): string => `webhook-${webhookId}-${subjectId}`;
