import { Gauge } from 'prom-client';
import type { DataSource } from 'typeorm';
import { type HealthChecks, metrics } from '../platform/metrics';

interface Pool {
  totalCount: number;
  idleCount: number;
  waitingCount: number;
}

const pools = new Map<string, DataSource>();

new Gauge({
  name: 'gateway_db_pool_connections',
  help: 'Connections of a database pool by state; waiting: queries without a connection',
  labelNames: ['pool', 'state'] as const,
  registers: [metrics],
  collect() {
    for (const [name, database] of pools) {
      const pool = (database.driver as unknown as { master?: Pool }).master;
      this.set({ pool: name, state: 'total' }, pool?.totalCount ?? 0);
      this.set({ pool: name, state: 'idle' }, pool?.idleCount ?? 0);
      this.set({ pool: name, state: 'waiting' }, pool?.waitingCount ?? 0);
    }
  },
});

const poolSizes = new Gauge({
  name: 'gateway_db_pool_size_connections',
  help: 'Connections that a database pool may have',
  labelNames: ['pool'] as const,
  registers: [metrics],
});

/** Shows the connections of a pool in the metrics of the process, until it ends. */
export function collectPoolMetrics(name: string, database: DataSource): void {
  pools.set(name, database);
  const { poolSize } = database.options as { poolSize?: number };
  poolSizes.set({ pool: name }, poolSize ?? 0);
}

const signersReady = new Gauge({
  name: 'gateway_signing_nodes_ready',
  help: 'Signing nodes that say that they are ready; two are needed for a signature, three for a new key',
  registers: [metrics],
});

const signerReady = new Gauge({
  name: 'gateway_signing_node_ready',
  help: '1 while a signing node says that it is ready; node: its place in MPC_NODE_HEALTH_URLS, from 1',
  labelNames: ['node'] as const,
  registers: [metrics],
});

const readiness = new Gauge({
  name: 'gateway_readiness_check',
  help: '1 while a check of the readiness of the API succeeds, as /health/ready names it',
  labelNames: ['check'] as const,
  registers: [metrics],
});

export function measureSigners(answers: readonly boolean[]): void {
  answers.forEach((isReady, place) => signerReady.set({ node: String(place + 1) }, isReady ? 1 : 0));
  signersReady.set(answers.filter(Boolean).length);
}

/** Details, which are strings and name accounts, are left out. */
export function measureReadiness(checks: HealthChecks): void {
  for (const [check, result] of Object.entries(checks)) if (typeof result === 'boolean') readiness.set({ check }, result ? 1 : 0);
}
