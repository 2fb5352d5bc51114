import { Context } from '@temporalio/activity';
import { type AttemptDependencies, deliverNext } from '../src/webhooks/attempt';
import type { WebhookActivities } from '../src/messages/webhooks';

/** Well below the time-out in workflows/deliver-webhooks.ts. */
const heartbeatMs = 2_000;

/** Attempts at deliveries; errors are mapped by withMappedErrors where the worker is wired. */
export function createWebhookActivities(dependencies: AttemptDependencies): WebhookActivities {
  return {
    async deliverNext(input) {
      const context = Context.current();
      const pulse = setInterval(() => context.heartbeat(), heartbeatMs);
      try {
        return await deliverNext(dependencies, input);
      } finally {
        clearInterval(pulse);
      }
    },
  };
}
