import { Gauge } from 'prom-client';
import type { DataSource } from 'typeorm';
import { metrics } from '../platform/metrics';

interface Pool {
  totalCount: number;
  idleCount: number;
  waitingCount: number;
}

/** Registers the metrics of a database pool. Must be called once per process. */
export function collectPoolMetrics(database: DataSource): void {
  new Gauge({
    name: 'db_pool_connections',
    help: 'Connections of the database pool by state; waiting: queries without a connection',
    labelNames: ['state'] as const,
    registers: [metrics],
    collect() {
      const pool = (database.driver as unknown as { master?: Pool }).master;
      this.set({ state: 'total' }, pool?.totalCount ?? 0);
      this.set({ state: 'idle' }, pool?.idleCount ?? 0);
      this.set({ state: 'waiting' }, pool?.waitingCount ?? 0);
    },
  });
}
