import { Gauge } from 'prom-client';
import { type HealthChecks, metrics } from '../platform/metrics';

/** Of the API alone: a process that does not measure readiness must not show that no node is ready. */

const signerReady = new Gauge({
  name: 'gateway_signing_node_ready',
  help: '1 while a signing node says that it is ready, absent until it was asked; two are needed for a signature, three for a new key. node: its place in MPC_NODE_HEALTH_URLS, from 1',
  labelNames: ['node'] as const,
  registers: [metrics],
});

const readiness = new Gauge({
  name: 'gateway_readiness_check',
  help: '1 while a check of the API succeeds, as /health/ready names it; database and temporal decide about readiness',
  labelNames: ['check'] as const,
  registers: [metrics],
});

export function measureSigners(answers: readonly boolean[]): void {
  answers.forEach((isReady, place) => signerReady.set({ node: String(place + 1) }, isReady ? 1 : 0));
}

/** Details, which are strings and name accounts, are left out. */
export function measureReadiness(checks: HealthChecks): void {
  for (const [check, result] of Object.entries(checks)) if (typeof result === 'boolean') readiness.set({ check }, result ? 1 : 0);
}
