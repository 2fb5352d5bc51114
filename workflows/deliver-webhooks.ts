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
  const progress = new WorkflowProgress(`Webhook ${stream.webhookId}`);
  let signalled = true;
  setHandler(deliveriesPendingSignal, () => {
    signalled = true;
  });
  for (let busyTimes = 0; ;) {
    progress.report('delivering', `About ${stream.subjectId}`);
    signalled = false;
    const { outcome, waitMs } = await deliverNext({ ...stream, busyTimes });
    busyTimes = outcome === 'busy' ? busyTimes + 1 : 0;
    if (waitMs === null && !signalled) return;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof deliverWebhooks>(stream);
    if (waitMs === null || waitMs === 0) continue;
    progress.report('waiting', `${outcome}; next attempt in ${Math.ceil(waitMs / 1000)} s`);
    // the due time is stored in the rows: a signal only causes another query
    if (outcome === 'busy') await sleep(waitMs);
    else await condition(() => signalled, waitMs);
  }
}
