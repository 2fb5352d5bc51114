export { GatewayClient, type ClientOptions, type Schemas, type Transaction, type Wallet } from './client';
export type { Data, Init, Method, Path } from './calls';
export {
  ClientError,
  NoAnswerError,
  type Problem,
  type ProblemCode,
  ProblemError,
  WaitTimeoutError,
  WebhookSignatureError,
} from './errors';
export type { Item, ListPath } from './lists';
export type { RepeatLimits } from './repeat';
export type { WaitOptions } from './until';
export { verifyWebhook, type VerifiedWebhook, type WebhookEvent } from './webhooks';
export type { components, operations, paths, webhooks } from './generated';
