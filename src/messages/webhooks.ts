import { defineSignal } from '@temporalio/workflow';

/** All deliveries of one endpoint that concern one subject (a transaction, wallet, …) are one workflow's affair. */
export interface DeliveryStream {
  webhookId: string;
  subjectId: string;
}

/** A webhook lane has deliveries to make. */
export const deliveriesPendingSignal = defineSignal('deliveriesPending');

export interface WebhookAttemptResult {
  /** `idle`: nothing was due. `busy`: the endpoint has enough requests under way. */
  outcome: 'delivered' | 'failed' | 'disabled' | 'idle' | 'busy';
  /** Milliseconds until the next attempt is due (0: at once); null when nothing is pending. */
  waitMs: number | null;
}

/** Run on a queue of their own: receivers that are slow hold up nobody but themselves. */
export interface WebhookActivities {
  /** Makes the next attempt that is due, puts it on record and says when to come again. `busyTimes`: in a row, so far. */
  deliverNext(input: DeliveryStream & { busyTimes: number }): Promise<WebhookAttemptResult>;
}
