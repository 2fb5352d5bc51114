import { condition, continueAsNew, proxyActivities, setHandler, sleep, workflowInfo } from '@temporalio/workflow';
import { webhookTaskQueue } from '../src/messages/task-queues';
import { type DeliveryStream, type WebhookActivities, deliveriesPendingSignal } from '../src/messages/webhooks';
import { WorkflowProgress } from './progress';

/** An attempt takes 15 s at most; the heartbeat detects a worker that has crashed. */
const { deliverNext } = proxyActivities<WebhookActivities>({
  taskQueue: webhookTaskQueue,
  startToCloseTimeout: '40 seconds',
  heartbeatTimeout: '8 seconds',
  retry: { initialInterval: '500 milliseconds', backoffCoefficient: 2, maximumInterval: '30 seconds' },
});

/**
 * Makes the pending deliveries of one endpoint about one subject, in order, once the first attempt of one has failed or has to wait.
 * Postgres stores which delivery is due next and when; the workflow only waits and calls the activity, so that a run can be lost and
 * restarted at any point.
 */
export async function deliverWebhooks(stream: DeliveryStream): Promise<void> {
  const progress = new WorkflowProgress();
  let signalled = true;
  const description = 'From the gateway: deliveries are pending. The rows say which.';
  const onPending = () => {
    signalled = true;
  };
  setHandler(deliveriesPendingSignal, onPending, { description });
  for (let busyTimes = 0; ;) {
    const now = `Delivers to webhook ${stream.webhookId} about ${stream.subjectId}`;
    const nowAdvice = `**${now}**. If this stays, no worker delivers: docs/runbook/alerts.md#webhookbacklog`;
    progress.report('delivering', now, 1, nowAdvice);
    signalled = false;
    const { outcome, waitMs } = await deliverNext({ ...stream, busyTimes });
    busyTimes = outcome === 'busy' ? busyTimes + 1 : 0;
    if (waitMs === null && !signalled) return;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof deliverWebhooks>(stream);
    if (waitMs === null || waitMs === 0) continue;
    const detail = `Waits ${Math.ceil(waitMs / 1000)} s for the next attempt (${outcome})`;
    const advice = `**${detail}**, and goes on by itself: docs/runbook/alerts.md#webhooksfailing. GET /webhooks/{id}/deliveries shows why`;
    progress.report('waiting', detail, 1, advice);
    // the due time is stored in the rows: a signal only causes another query
    const timer = { summary: 'next attempt' };
    if (outcome === 'busy') await sleep(waitMs, timer);
    else await condition(() => signalled, waitMs, timer);
  }
}
