import { Counter } from 'prom-client';
import { metrics } from '../platform/metrics';

/** `busy` counts attempts that were deferred because the endpoint has the maximum number of concurrent requests. */
export const deliveryAttempts = new Counter({
  name: 'gateway_webhook_attempts_total',
  help: 'Webhook delivery attempts by outcome: delivered, failed, disabled, busy',
  labelNames: ['outcome'] as const,
  registers: [metrics],
});
// a series that begins with its first event shows no increase
for (const outcome of ['delivered', 'failed', 'disabled', 'busy']) deliveryAttempts.inc({ outcome }, 0);
