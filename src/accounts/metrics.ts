import { Counter } from 'prom-client';
import { metrics } from '../platform/metrics';

export const differingAddresses = new Counter({
  name: 'gateway_account_addresses_differ_total',
  help: 'Times an account was read whose address is not the one its key gives; each needs an alarm',
  registers: [metrics],
});
