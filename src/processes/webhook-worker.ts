import type { Client } from '@temporalio/client';
import { Worker, type WorkerOptions } from '@temporalio/worker';
import { withMappedErrors } from '../../activities/errors';
import { webhookTaskQueue } from '../messages/task-queues';
import { createWebhookActivities } from '../../activities/webhooks';
import { OwnAddresses } from '../accounts/own-addresses';
import { getFamily } from '../chains/families';
import { entities } from '../entities';
import { collectPoolMetrics } from '../health/pool-metrics';
import type { NodeKeys } from '../mpc/identity';
import { createDatabase } from '../platform/database';
import { connectAs } from '../platform/database-login';
import type { Logger } from '../platform/logging';
import type { SecretBox } from '../platform/secret-box';
import { startDelivery, WebhookDispatcher } from '../webhooks/dispatcher';
import { EndpointConcurrency } from '../webhooks/endpoint-concurrency';
import { firstAttempts } from '../webhooks/first-attempts';
import { AttestedKeys } from '../wallets/attested-keys';
import type { TargetGuard } from '../webhooks/ssrf-guard';
import { untilUp } from './process';
import { runUntil } from './temporal-worker';

/** A separate pool, so that webhook attempts and transfers never wait for each other's connections. */
const databasePoolSize = 5;
/** Running and waiting attempts: cheap, and many more than one client's endpoints can occupy. */
const attemptConcurrency = 500;
const cachedWorkflows = 100;
/**
 * Per endpoint; further attempts are deferred. Queue and wait are short: one client's endpoints must not occupy all slots. Long enough for
 * the events of half a second at a receiver that answers.
 */
const perEndpoint = { permits: 8, maxWaiting: 32, maxWaitMs: 1_000 };

export interface WebhookWorkerOptions {
  worker: Pick<
    WorkerOptions,
    | 'connection'
    | 'namespace'
    | 'shutdownGraceTime'
    | 'workflowBundle'
    | 'workflowsPath'
    | 'interceptors'
    | 'sinks'
    | 'workerDeploymentOptions'
  >;
  databaseUrl: string;
  temporal: Client;
  box: SecretBox;
  targets: TargetGuard;
  nodeKeys: NodeKeys;
  /** Seconds before each retry. */
  retrySchedule: number[];
  log: Logger;
  stop: AbortSignal;
}

/** Runs dispatcher, workflows and attempts of webhooks, in a worker separate from that of transfers, until the process stops. */
export async function runWebhookWorker(options: WebhookWorkerOptions): Promise<void> {
  const { worker: common, databaseUrl, temporal, box, targets, nodeKeys, retrySchedule, log, stop } = options;
  const database = createDatabase({
    url: databaseUrl,
    poolSize: databasePoolSize,
    applicationName: 'gateway-webhooks',
    entities,
  });
  collectPoolMetrics('webhooks', database);
  await untilUp('Postgres', () => connectAs(database, 'gateway_worker'), log, stop);
  if (!database.isInitialized) return;
  const keys = new AttestedKeys(nodeKeys, log);
  const attested = { keys, addresses: new OwnAddresses(keys, getFamily, log) };
  const concurrency = new EndpointConcurrency(perEndpoint);
  const attempts = { database, box, attested, targets, retrySchedule, concurrency };
  try {
    const worker = await Worker.create({
      ...common,
      taskQueue: webhookTaskQueue,
      activities: withMappedErrors(createWebhookActivities(attempts), log),
      maxCachedWorkflows: cachedWorkflows,
      workflowThreadPoolSize: 1,
      maxConcurrentActivityTaskExecutions: attemptConcurrency,
      stickyQueueScheduleToStartTimeout: '3 seconds',
      shutdownForceTime: '20 seconds',
    });
    const dispatcher = new WebhookDispatcher(
      database,
      { firstAttempts: firstAttempts(attempts), startDelivery: startDelivery(temporal) },
      log,
    );
    const failed = new AbortController();
    const dispatching = dispatcher.run(AbortSignal.any([stop, failed.signal]));
    try {
      await Promise.all([runUntil(worker, stop), dispatching]);
    } finally {
      failed.abort();
      // attempts that were made have to be recorded, or they are made again
      await dispatching.catch(() => undefined);
    }
  } finally {
    await database.destroy();
  }
}
