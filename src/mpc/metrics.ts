import { Counter, Gauge, Histogram } from 'prom-client';
import { metrics } from '../platform/metrics';

const registers = [metrics];

export const activeSessions = new Gauge({
  name: 'mpc_sessions_active',
  help: 'Protocol sessions in progress',
  labelNames: ['kind'],
  registers,
});

export const sessionOutcomes = new Counter({
  name: 'mpc_sessions_total',
  help: 'Ended protocol sessions by outcome',
  labelNames: ['kind', 'role', 'outcome'],
  registers,
});

export const sessionSeconds = new Histogram({
  name: 'mpc_session_seconds',
  help: 'Duration of successful protocol sessions',
  labelNames: ['kind', 'role'],
  buckets: [0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120],
  registers,
});

export const misbehaviour = new Counter({
  name: 'mpc_peer_misbehaviour_total',
  help: 'Failed protocol checks of a peer that reveal information about the share; each one needs an alarm',
  labelNames: ['peer'],
  registers,
});
