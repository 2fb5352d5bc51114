import { Gauge } from 'prom-client';
import type { DataSource } from 'typeorm';
import { metrics } from '../platform/metrics';

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
