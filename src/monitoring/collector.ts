import { Gauge } from 'prom-client';
import type { DataSource, EntityManager } from 'typeorm';
import type { ChainRegistry } from '../chains/registry';
import type { Logger } from '../platform/logging';
import { metrics } from '../platform/metrics';
import type { SettlerWatch } from '../settlers/watch';
import { collectFollowers, collectKeyPool, collectOutbox, collectWebhooks } from './backlogs';
import { chainBlockTime, collectionDuration, collectionFailures, keyPoolSize } from './metrics';
import { collectApprovals, collectBroadcasts, collectHeld, collectOpen, collectParked } from './open-transactions';
import type { WorkflowSweep } from './workflow-sweep';

/** Values that are older are said to be stale: four rounds of the worker's job. */
const staleAfterMs = 60_000;

export const collections = [
  'open',
  'parked',
  'approvals',
  'held',
  'broadcasts',
  'followers',
  'outbox',
  'webhooks',
  'key_pool',
  'settlers',
  'workflows',
] as const;
export type Collection = (typeof collections)[number];

/** When a collection has last succeeded; ms since the process has started. */
const succeededAt = new Map<Collection, number>();
let isCollecting = false;

new Gauge({
  name: 'gateway_collection_stale',
  help: '1 while metrics that are read from the database or Temporal are older than 60 seconds: they show what was so when they were last read',
  labelNames: ['collection'] as const,
  registers: [metrics],
  collect() {
    this.reset();
    if (!isCollecting) return;
    for (const collection of collections) {
      const ageMs = performance.now() - (succeededAt.get(collection) ?? -Infinity);
      this.set({ collection }, ageMs > staleAfterMs ? 1 : 0);
    }
  },
});

export interface CollectorOptions {
  /** Of one connection, with a short time-out of statements: a slow database must not keep connections from transfers. */
  database: DataSource;
  registry: ChainRegistry;
  /** KEY_POOL_SIZE. */
  poolSize: number;
  settlers: SettlerWatch;
  workflows: WorkflowSweep;
  log: Pick<Logger, 'warn'>;
}

/**
 * Reads what the database alone knows into gauges, and what Temporal says of it. A scrape never waits for it: it shows what was read last, and whether that is stale.
 * Once per process.
 */
export class Collector {
  private readonly failing = new Set<Collection>();
  private readonly reads: Record<Collection, (manager: EntityManager) => Promise<void>>;

  constructor(private readonly options: CollectorOptions) {
    const { registry, poolSize, settlers, workflows } = options;
    this.reads = {
      open: (manager) => collectOpen(manager, registry),
      parked: collectParked,
      approvals: (manager) => collectApprovals(manager, registry),
      held: (manager) => collectHeld(manager, registry),
      broadcasts: (manager) => collectBroadcasts(manager, registry),
      followers: (manager) => collectFollowers(manager, registry),
      outbox: collectOutbox,
      webhooks: collectWebhooks,
      key_pool: (manager) => collectKeyPool(manager, poolSize),
      settlers: (manager) => settlers.run(manager),
      workflows: (manager) => workflows.run(manager),
    };
    isCollecting = true;
    keyPoolSize.set(poolSize);
    for (const { name: chain, blockTimeMs } of registry.all) chainBlockTime.set({ chain }, blockTimeMs / 1_000);
    for (const collection of collections) collectionFailures.inc({ collection }, 0);
  }

  /** One round. A collection that fails leaves the others; it is logged when it begins to. */
  async run(): Promise<void> {
    for (const collection of collections) {
      const end = collectionDuration.startTimer({ collection });
      try {
        await this.reads[collection](this.options.database.manager);
        succeededAt.set(collection, performance.now());
        this.failing.delete(collection);
      } catch (err) {
        collectionFailures.inc({ collection });
        if (!this.failing.has(collection)) this.options.log.warn({ err, collection }, 'metrics could not be read');
        this.failing.add(collection);
      }
      end();
    }
  }
}
