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

export const settlerSupply = new Gauge({
  ...common,
  name: 'gateway_settler_supply',
  help: 'Whether a settler has enough coins: 2 enough, 1 low (fewer than 500 settlements), 0 dry (fewer than 50); 2 for one that takes nothing new',
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
