import { Gauge } from 'prom-client';
import { metrics } from '../platform/metrics';

export const missingOrders = new Gauge({
  name: 'gateway_orders_missing',
  help: '1 while the database lacks orders that a signing node has acted on: nothing is ordered or accepted until gateway reconcile',
  registers: [metrics],
});
