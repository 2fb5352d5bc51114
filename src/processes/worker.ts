import { existsSync } from 'node:fs';
import path from 'node:path';
import { Worker, type WorkerOptions } from '@temporalio/worker';
import { createChainActivities } from '../../activities/chain';
import { withMappedErrors } from '../../activities/errors';
import { createFollowActivity } from '../../activities/follow';
import { createWalletActivities } from '../../activities/wallet';
import { createTransferActivities } from '../../activities/transfer';
import { mainTaskQueue } from '../messages/task-queues';
import type { ChainClient } from '../chains/chain-client';
import { createWorkerClients } from '../chains/clients';
import { loadRegistry } from '../chains/registry';
import { confirmDeposits } from '../deposits/confirm';
import { orphanDeposits } from '../deposits/orphan';
import { endPendingDeposits, findPendingHashes, recordPendingDeposits } from '../deposits/pending';
import { depositAddresses, recordDeposits } from '../deposits/record';
import { entities } from '../entities';
import { ChainAlarms } from '../following/chain-alarms';
import { collectPoolMetrics } from '../health/pool-metrics';
import { readNodeKeys } from '../mpc/identity';
import { WorkflowOutbox } from '../outbox/outbox';
import { readConfig } from '../platform/config';
import { createDatabase } from '../platform/database';
import { connectAs } from '../platform/database-login';
import { createLogger } from '../platform/logging';
import { startHealthListener } from '../platform/metrics';
import { SecretBox } from '../platform/secret-box';
import { createTemporalClient, readTemporalOptions } from '../platform/temporal-client';
import { startTracing } from '../platform/tracing/start';
import { createTargetGuard } from '../webhooks/ssrf-guard';
import { actIdentitiesIn } from '../transfers/operate/act-identity';
import { StartLimits } from '../transfers/start/start-limits';
import { countSponsored } from '../x402/settlement/send-approval';
import { observationSignaller, startCancelReopened, transferWorkflowsOn } from '../transfers/start/workflows';
import { GenerationLimits } from '../wallets/generation-limits';
import { keyGenerationOn } from '../wallets/key-generation';
import { chainWorkers } from './chain-workers';
import { restartLostFollowers, startFollowers } from './followers';
import { runPeriodically } from './periodic-jobs';
import { answers, runMain, shutdownSignal, untilUp } from './process';
import { readMetrics } from './read-metrics';
import { connectWorkers, logTemporalWith, runUntil } from './temporal-worker';
import { tracedWorker } from './traced-worker';
import { runWebhookWorker } from './webhook-worker';
import { workerJobs } from './worker-jobs';
import { workerVersion, workerVersionVariables } from './worker-version';
import {
  createDeliveries,
  generationLimitVariables,
  startLimitVariables,
  toGenerationLimits,
  toStartLimits,
} from './workflow-outbox';

/** Connections for activities that are not local: one per chain and some for the follower's transactions. */
const connectionsBesideLocalActivities = 6;

runMain('worker', async () => {
  const config = readConfig([
    'GATEWAY_ENV',
    'LOG_LEVEL',
    'DATABASE_URL',
    'DATABASE_POOL_SIZE',
    'CHAINS',
    'METRICS_HOST',
    'METRICS_PORT',
    'WEBHOOK_SECRETS_KEY',
    'MPC_NODE_PEER_CERTS',
    'MPC_NODE_FORMER_CERTS',
    'WEBHOOK_RETRY_SCHEDULE_SECONDS',
    'WORKER_CACHED_WORKFLOWS',
    'APPROVAL_WAIT_SECONDS',
    ...startLimitVariables,
    ...generationLimitVariables,
    'KEY_POOL_SIZE',
    ...workerVersionVariables,
  ]);
  const version = workerVersion(config);
  const logger = createLogger('worker', config.LOG_LEVEL);
  const stop = shutdownSignal();
  const stopTracing = startTracing('worker', logger);
  logTemporalWith(logger);

  const registry = loadRegistry(config.GATEWAY_ENV, config.CHAINS.split(','));
  const { transfers: clients, followers: followClients } = createWorkerClients(registry);
  const box = new SecretBox(config.WEBHOOK_SECRETS_KEY, 'WEBHOOK_SECRETS_KEY');
  const database = createDatabase({
    url: config.DATABASE_URL,
    poolSize: config.DATABASE_POOL_SIZE,
    applicationName: 'gateway-worker',
    entities,
  });
  collectPoolMetrics('main', database);
  const temporal = createTemporalClient();
  const running = { workers: false };
  const chainAlarms = new ChainAlarms(logger);
  const health = await startHealthListener({
    process: 'worker',
    host: config.METRICS_HOST,
    port: config.METRICS_PORT,
    ready: async () => ({
      database: await answers(() => database.query('select 1')),
      workers: running.workers,
      ...chainAlarms.details,
    }),
  });

  const { DATABASE_URL: databaseUrl, KEY_POOL_SIZE: poolSize } = config;
  const reading = readMetrics({ databaseUrl, temporal, registry, poolSize, log: logger, stop });
  await untilUp('Postgres', () => connectAs(database, 'gateway_worker'), logger, stop);
  const connection = await untilUp('Temporal', () => connectWorkers(), logger, stop);
  if (!connection) return;

  const keyGeneration = keyGenerationOn(temporal);
  const deliveries = createDeliveries({
    database,
    workflows: transferWorkflowsOn(temporal),
    keyGeneration,
    starts: new StartLimits(toStartLimits(config), countSponsored),
    generations: new GenerationLimits(toGenerationLimits(config)),
    log: logger,
  });
  const outbox = new WorkflowOutbox(database, deliveries, logger);

  const common = {
    ...tracedWorker,
    ...version,
    connection,
    namespace: readTemporalOptions().namespace,
    shutdownGraceTime: '10 seconds',
  } as const;
  const main = await Worker.create({
    ...common,
    ...workflowSource(),
    taskQueue: mainTaskQueue,
    activities: withMappedErrors(
      {
        ...createTransferActivities({
          database,
          registry,
          approvalWaitSeconds: config.APPROVAL_WAIT_SECONDS,
          outbox,
          findActIdentity: actIdentitiesIn(temporal),
          log: logger,
        }),
        ...createWalletActivities(database),
      },
      logger,
    ),
    maxCachedWorkflows: config.WORKER_CACHED_WORKFLOWS,
    // how long a run waits for the worker that had it in memory, in case that worker is gone
    stickyQueueScheduleToStartTimeout: '3 seconds',
    maxConcurrentLocalActivityExecutions: Math.max(1, config.DATABASE_POOL_SIZE - connectionsBesideLocalActivities),
  });
  const chainActivities = withMappedErrors(createChainActivities({ clients, database, logger }), logger);
  const followActivities = withMappedErrors(
    createFollowActivity({
      clients: followClients,
      database,
      registry,
      deposits: {
        ...{ recordDeposits, confirmDeposits, orphanDeposits, depositAddresses },
        ...{ recordPendingDeposits, findPendingHashes, endPendingDeposits },
      },
      signalTransfer: observationSignaller(temporal),
      chainAlarms,
      cancelReopened: (txId) => startCancelReopened(temporal, txId),
      onConfirmedReorged: (txId) => {
        logger.error({ tx_id: txId }, 'the end of a transfer does not agree with the chain: an operator must check it');
        return Promise.resolve();
      },
      logger,
      stop,
    }),
    logger,
  );
  /** Started once the chain's RPC endpoint is verified. */
  const runChain = async (client: ChainClient): Promise<void> => {
    const { name } = client.chain;
    await untilUp(`RPC of ${name}`, () => client.verifyIdentity(), logger, stop);
    if (stop.aborted) return;
    const options = chainWorkers(name, { transfers: chainActivities, follower: followActivities });
    const workers = await Promise.all(options.map((ofQueue) => Worker.create({ ...common, ...ofQueue })));
    logger.info({ chain: name }, 'serving chain');
    await Promise.all(workers.map((worker) => runUntil(worker, stop)));
  };

  const jobs = workerJobs({
    ...{ database, temporal, registry, deliveries, outbox, keyGeneration, keyPoolSize: poolSize, log: logger },
  });
  const webhooks = runWebhookWorker({
    worker: { ...common, ...workflowSource() },
    databaseUrl,
    temporal,
    box,
    targets: createTargetGuard(config.GATEWAY_ENV),
    nodeKeys: readNodeKeys(config.MPC_NODE_PEER_CERTS, config.MPC_NODE_FORMER_CERTS),
    retrySchedule: config.WEBHOOK_RETRY_SCHEDULE_SECONDS.split(',').map(Number),
    log: logger,
    stop,
  });
  const followers = startFollowers(temporal, registry, logger, stop);
  const followersAgain = {
    name: 'start lost followers again',
    everyMs: 60_000,
    run: () => restartLostFollowers(temporal, registry, logger),
  };
  const runs = Promise.all([
    runUntil(main, stop),
    ...jobs.map((job) => runPeriodically(job, logger, stop)),
    webhooks,
    reading,
    ...[...clients.values()].map(runChain),
    followers.then(() => runPeriodically(followersAgain, logger, stop)),
  ]);
  await Promise.race([runs, followers]);
  running.workers = true;
  logger.info('worker is running');
  try {
    await runs;
  } finally {
    running.workers = false;
    await connection.close();
    await database.destroy();
    await health.close();
    await stopTracing();
    logger.info('worker has stopped');
  }
});

/** Prebuilt by the build, so that a start needs no bundling. */
function workflowSource(): Pick<WorkerOptions, 'workflowBundle' | 'workflowsPath' | 'interceptors'> {
  const codePath = path.resolve(__dirname, '../../workflow-bundle.js');
  if (existsSync(codePath)) return { workflowBundle: { codePath } };
  const interceptors = { ...tracedWorker.interceptors, workflowModules: [require.resolve('../../workflows/tracing')] };
  return { workflowsPath: require.resolve('../../workflows/index'), interceptors };
}
