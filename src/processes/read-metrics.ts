import type { Client } from '@temporalio/client';
import { getFamily } from '../chains/families';
import type { ChainRegistry } from '../chains/registry';
import { Collector } from '../monitoring/collector';
import { WorkflowSweep } from '../monitoring/workflow-sweep';
import { createDatabase } from '../platform/database';
import { connectAs } from '../platform/database-login';
import type { Logger } from '../platform/logging';
import { SettlerWatch } from '../settlers/watch';
import { runPeriodically } from './periodic-jobs';

/** What takes longer is left for the next round. */
const statementTimeoutMs = 3_000;

export interface MetricsOptions {
  /** A login of the worker. */
  databaseUrl: string;
  temporal: Client;
  registry: ChainRegistry;
  /** KEY_POOL_SIZE. */
  poolSize: number;
  log: Logger;
  stop: AbortSignal;
}

/**
 * Reads the worker's metrics from the database until `stop`, over one connection of its own. Nothing waits for it, and it never rejects:
 * while it cannot connect `gateway_collection_stale` is 1.
 */
export async function readMetrics({ databaseUrl: url, temporal, log, stop, ...options }: MetricsOptions): Promise<void> {
  const database = createDatabase({ url, poolSize: 1, applicationName: 'gateway-metrics', statementTimeoutMs });
  const settlers = new SettlerWatch(getFamily, log);
  const collector = new Collector({ ...options, database, settlers, workflows: new WorkflowSweep(temporal, log), log });
  const run = async () => {
    if (!database.isInitialized) await connectAs(database, 'gateway_worker');
    await collector.run();
  };
  await runPeriodically({ name: 'read metrics', everyMs: 15_000, run }, log, stop);
  if (database.isInitialized) await database.destroy().catch(() => undefined);
}
