import { condition, continueAsNew, proxyActivities, setHandler, sleep, workflowInfo } from '@temporalio/workflow';
import { webhookTaskQueue } from '../src/messages/task-queues';
import { type DeliveryStream, type WebhookActivities, deliveriesPendingSignal } from '../src/messages/webhooks';
import { WorkflowProgress } from './progress';

/** One attempt takes 15 s at most; a worker that died with it is noticed by its missing heartbeat. */
const { deliverNext } = proxyActivities<WebhookActivities>({
  taskQueue: webhookTaskQueue,
  startToCloseTimeout: '40 seconds',
  heartbeatTimeout: '8 seconds',
  retry: { initialInterval: '500 milliseconds', backoffCoefficient: 2, maximumInterval: '30 seconds' },
});

/**
 * Makes the pending deliveries of one endpoint about one subject, in their order. Which one is next and when is in Postgres; this
 * only waits and asks again, so a run can be lost or started anew anywhere.
 */
export async function deliverWebhooks(lane: DeliveryStream): Promise<void> {
  const progress = new WorkflowProgress(`Webhook ${lane.webhookId}`);
  let told = true;
  setHandler(deliveriesPendingSignal, () => {
    told = true;
  });
  for (let busyTimes = 0; ;) {
    progress.report('delivering', `About ${lane.subjectId}`);
    told = false;
    const { outcome, waitMs } = await deliverNext({ ...lane, busyTimes });
    busyTimes = outcome === 'busy' ? busyTimes + 1 : 0;
    if (waitMs === null && !told) return;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof deliverWebhooks>(lane);
    if (waitMs === null || waitMs === 0) continue;
    progress.report('waiting', `${outcome}; next attempt in ${Math.ceil(waitMs / 1000)} s`);
    // the rows know when it is due: a signal only makes it ask again
    if (outcome === 'busy') await sleep(waitMs);
    else await condition(() => told, waitMs);
  }
}
