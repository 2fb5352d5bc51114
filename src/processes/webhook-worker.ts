import type { Client } from '@temporalio/client';
import { Worker, type WorkerOptions } from '@temporalio/worker';
import { withMappedErrors } from '../../activities/errors';
import { webhookTaskQueue } from '../messages/task-queues';
import { createWebhookActivities } from '../../activities/webhooks';
import { entities } from '../entities';
import { createDatabase } from '../platform/database';
import type { Logger } from '../platform/logging';
import type { SecretBox } from '../platform/secret-box';
import { startDelivery, WebhookDispatcher } from '../webhooks/dispatcher';
import { EndpointConcurrency } from '../webhooks/endpoint-concurrency';
import type { TargetGuard } from '../webhooks/ssrf-guard';
import { untilUp } from './process';
import { runUntil } from './temporal-worker';

/** Connections of its own, so that attempts never wait for the transfers' nor they for these. */
const databasePoolSize = 5;
/** Attempts and those that wait for a place: cheap, and many more than one client's endpoints can take up. */
const attemptsAtOnce = 500;
const cachedWorkflows = 100;
/** Of one endpoint; those beyond come back later. Few wait: a client's endpoints together must not take up all activity slots. */
const perEndpoint = { running: 8, waiting: 4, maxWaitMs: 5_000 };

export interface WebhookWorkerOptions {
  worker: Pick<WorkerOptions, 'connection' | 'namespace' | 'shutdownGraceTime' | 'workflowBundle' | 'workflowsPath'>;
  databaseUrl: string;
  temporal: Client;
  box: SecretBox;
  targets: TargetGuard;
  /** Seconds before each retry. */
  retrySchedule: number[];
  log: Logger;
  stop: AbortSignal;
}

/** Dispatcher, workflows and attempts of webhooks: a worker of their own beside the transfers' until the process stops. */
export async function runWebhookWorker(options: WebhookWorkerOptions): Promise<void> {
  const { worker: common, databaseUrl, temporal, box, targets, retrySchedule, log, stop } = options;
  const database = createDatabase({
    url: databaseUrl,
    poolSize: databasePoolSize,
    applicationName: 'gateway-webhooks',
    entities,
  });
  await untilUp('Postgres', () => database.initialize(), log, stop);
  if (!database.isInitialized) return;
  try {
    const worker = await Worker.create({
      ...common,
      taskQueue: webhookTaskQueue,
      activities: withMappedErrors(
        createWebhookActivities({ database, box, targets, retrySchedule, lanes: new EndpointConcurrency(perEndpoint) }),
        log,
      ),
      maxCachedWorkflows: cachedWorkflows,
      workflowThreadPoolSize: 1,
      maxConcurrentActivityTaskExecutions: attemptsAtOnce,
      stickyQueueScheduleToStartTimeout: '3 seconds',
      shutdownForceTime: '20 seconds',
    });
    const dispatcher = new WebhookDispatcher(database, startDelivery(temporal), log);
    await Promise.all([runUntil(worker, stop), dispatcher.run(stop)]);
  } finally {
    await database.destroy();
  }
}
