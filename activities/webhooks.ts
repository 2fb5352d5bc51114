import { type AttemptDependencies, deliverNext } from '../src/webhooks/attempt';
import type { WebhookActivities } from '../src/messages/webhooks';
import { withHeartbeat } from './heartbeat';

/** Delivery attempts of webhooks. The worker maps errors with withMappedErrors. */
export function createWebhookActivities(dependencies: AttemptDependencies): WebhookActivities {
  return { deliverNext: (input) => withHeartbeat(() => deliverNext(dependencies, input)) };
}
