import { Counter, Gauge, Histogram } from 'prom-client';
import { nodeIndexes } from '../messages/nodes';
import { metrics } from '../platform/metrics';

const registers = [metrics];

export const activeSessions = new Gauge({
  name: 'gateway_mpc_sessions_active',
  help: 'Protocol sessions in progress',
  labelNames: ['kind'],
  registers,
});

export const sessionOutcomes = new Counter({
  name: 'gateway_mpc_sessions_total',
  help: 'Ended protocol sessions by outcome',
  labelNames: ['kind', 'role', 'outcome'],
  registers,
});

export const sessionSeconds = new Histogram({
  name: 'gateway_mpc_session_duration_seconds',
  help: 'Duration of successful protocol sessions',
  labelNames: ['kind', 'role'],
  buckets: [0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120],
  registers,
});

export const misbehaviour = new Counter({
  name: 'gateway_mpc_peer_misbehaviour_total',
  help: 'Failed protocol checks of a peer that reveal information about the share; each one needs an alarm',
  labelNames: ['peer'],
  registers,
});

export const admissions = new Counter({
  name: 'gateway_mpc_admissions_total',
  help: 'Signatures that the journal was asked for, by its verdict',
  labelNames: ['verdict'],
  registers,
});

export const signatures = new Counter({
  name: 'gateway_mpc_signatures_total',
  help: 'Ended signature sessions by the outcome in the journal',
  labelNames: ['outcome'],
  registers,
});

export const policyRefusals = new Counter({
  name: 'gateway_mpc_policy_refusals_total',
  help: "Signatures refused by the limits of this node's operator",
  registers,
});

export const nodeRefusals = new Counter({
  name: 'gateway_mpc_refusals_total',
  help: 'What this node has refused, by who asked (a peer: peer; Temporal: initiator) and reason code',
  labelNames: ['role', 'code'],
  registers,
});

export const openEntries = new Gauge({
  name: 'gateway_mpc_journal_entries_open',
  help: 'Journal entries without an outcome: sessions in progress',
  registers,
});

export const banGauge = new Gauge({
  name: 'gateway_mpc_bans',
  help: 'Nodes, this one included, that have banned a node for at least one key; two need an alarm',
  labelNames: ['peer'],
  registers,
});

export const unownedKeys = new Gauge({
  name: 'gateway_mpc_unowned_keys',
  help: 'Keys of no client, of the last seven days, that this node had when another one was asked for; far more than KEY_POOL_SIZE: keys get lost',
  registers,
});

export const journalBehind = new Gauge({
  name: 'gateway_mpc_journal_behind',
  help: '1 while the node signs nothing because its journal is not complete',
  registers,
});

export const markUnwritable = new Gauge({
  name: 'gateway_mpc_journal_mark_unwritable',
  help: '1 while the node signs nothing because its journal mark cannot be written',
  registers,
});

// a series that begins with its first event shows no increase
for (const index of nodeIndexes) {
  misbehaviour.inc({ peer: String(index) }, 0);
  banGauge.set({ peer: String(index) }, 0);
}
for (const outcome of ['signed', 'failed']) signatures.inc({ outcome }, 0);
