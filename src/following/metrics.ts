import { Gauge } from 'prom-client';
import { metrics } from '../platform/metrics';

export const foreignSpends = new Gauge({
  name: 'outputs_spent_elsewhere',
  help: 'Spends of outputs of accounts by transactions that are none of the gateway, in blocks that are not final; each needs an alarm',
  labelNames: ['chain'] as const,
  registers: [metrics],
});
