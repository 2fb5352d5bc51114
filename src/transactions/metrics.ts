import { Counter } from 'prom-client';
import { metrics } from '../platform/metrics';
import { outboundStatuses } from './entity';

export const stateChanges = new Counter({
  name: 'gateway_transaction_state_changes_total',
  help:
    'Changes of the state of transfers and settlements that this process has written, by the new state and, where they end or park one, by failure code. ' +
    'One whose database transaction is repeated is counted again',
  labelNames: ['status', 'failure_code'] as const,
  registers: [metrics],
});
// a series that begins with its first event shows no increase
for (const status of outboundStatuses) stateChanges.inc({ status, failure_code: 'none' }, 0);
