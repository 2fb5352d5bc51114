import type { DeliveryStream } from './webhooks';

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
