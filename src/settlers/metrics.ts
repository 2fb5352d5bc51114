import { Gauge } from 'prom-client';
import { metrics } from '../platform/metrics';

const labelNames = ['chain', 'settler'] as const;
const common = { labelNames, registers: [metrics] };

export const settlerBalance = new Gauge({
  ...common,
  name: 'gateway_settler_balance',
  help: "What a settler may spend, in atomic units of the chain's native coin",
});

export const settlerRunway = new Gauge({
  ...common,
  name: 'gateway_settler_runway_settlements',
  help: 'Settlements that the balance of a settler pays for, by the median cost of the last 100; absent before the first',
});

export const openSettlements = new Gauge({
  ...common,
  name: 'gateway_settler_open_settlements',
  help: 'Settlements of a settler that have not ended',
});

export const oldestSettlement = new Gauge({
  ...common,
  name: 'gateway_settler_oldest_settlement_age_seconds',
  help: 'Age of the oldest settlement of a settler that has not ended; 0 without one',
});

export const refusedClients = new Gauge({
  ...common,
  name: 'gateway_settler_refused_clients',
  help: 'Clients whose settlements by a settler are not begun for now: the limits of two signing nodes have refused one',
});
