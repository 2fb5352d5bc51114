import { collectDefaultMetrics, Gauge, register } from 'prom-client';
import type { DataSource } from 'typeorm';

interface Pool {
  totalCount: number;
  idleCount: number;
  waitingCount: number;
}

/** Registers the metrics of an API process other than HTTP durations. Must be called once per process. */
export function collectMetrics(database: DataSource): void {
  collectDefaultMetrics({ register });
  new Gauge({
    name: 'db_pool_connections',
    help: 'Connections of the database pool by state; waiting: queries without a connection',
    labelNames: ['state'] as const,
    registers: [register],
    collect() {
      const pool = (database.driver as unknown as { master?: Pool }).master;
      this.set({ state: 'total' }, pool?.totalCount ?? 0);
      this.set({ state: 'idle' }, pool?.idleCount ?? 0);
      this.set({ state: 'waiting' }, pool?.waitingCount ?? 0);
    },
  });
}
