import { defineSignal } from '@temporalio/workflow';

/** All deliveries of one endpoint about one subject (a transaction, wallet, …): first attempts are a dispatcher's, the rest one workflow's. */
export interface DeliveryStream {
  webhookId: string;
  subjectId: string;
}

/** The stream has pending deliveries. */
export const deliveriesPendingSignal = defineSignal('deliveriesPending');

export interface WebhookAttemptResult {
  /** `idle`: nothing was due. `busy`: the endpoint has the maximum number of concurrent requests. */
  outcome: 'delivered' | 'failed' | 'disabled' | 'idle' | 'busy';
  /** Milliseconds until the next attempt is due (0: now); null when nothing is pending. */
  waitMs: number | null;
}

/** On a separate task queue, so that slow receivers do not delay other work. */
export interface WebhookActivities {
  /** Makes and records the next due attempt. Returns when to continue. `busyTimes`: how often in a row the outcome was `busy`. */
  deliverNext(input: DeliveryStream & { busyTimes: number }): Promise<WebhookAttemptResult>;
}
