import { Counter } from 'prom-client';
import { metrics } from '../platform/metrics';

/** `busy` are attempts put off because their endpoint has enough requests under way. */
export const attemptsMade = new Counter({
  name: 'webhook_attempts_total',
  help: 'Attempts at webhook deliveries by outcome: delivered, failed, disabled, busy',
  labelNames: ['outcome'] as const,
  registers: [metrics],
});
