import { Gauge } from 'prom-client';
import { metrics } from '../platform/metrics';

export const foreignSpends = new Gauge({
  name: 'gateway_outputs_spent_elsewhere',
  help: 'Spends of outputs of accounts by transactions that are none of the gateway, in blocks that are not final; each needs an alarm',
  labelNames: ['chain'] as const,
  registers: [metrics],
});

export const chainAlarms = new Gauge({
  name: 'gateway_chain_alarms',
  help: '1 while something is wrong with a chain although it can be read: its fees are not believed, its endpoints do not agree, none of them traces, deposits of contracts are not found, an account is used elsewhere',
  labelNames: ['chain', 'alert'] as const,
  registers: [metrics],
});

export const accountsUsedElsewhere = new Gauge({
  name: 'gateway_accounts_used_elsewhere',
  help: 'Accounts of which a chain counts more transactions than the gateway knows: nothing is begun for them',
  labelNames: ['chain'] as const,
  registers: [metrics],
});
