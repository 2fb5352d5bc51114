import type { WorkerOptions } from '@temporalio/worker';
import { createAuthoriserActivities } from '../../activities/authoriser';
import { withMappedErrors } from '../../activities/errors';
import { getFamily } from '../chains/families';
import { loadRegistry } from '../chains/registry';
import { entities } from '../entities';
import { collectPoolMetrics } from '../health/pool-metrics';
import { authoriserTaskQueue } from '../messages/task-queues';
import { readNodeKeys } from '../mpc/identity';
import { OrderKeys, withOwnKey } from '../mpc/order-keys';
import { OrderComparison } from '../orders/comparison';
import { asksForOrders } from '../orders/node-orders';
import { Orders } from '../orders/orders';
import { areOrdersCompared } from '../orders/reconcile-required';
import { OrderSigner } from '../orders/signer';
import { readConfig } from '../platform/config';
import { createDatabase } from '../platform/database';
import { connectAs } from '../platform/database-login';
import { createLogger } from '../platform/logging';
import { startHealthListener } from '../platform/metrics';
import { createTemporalClient } from '../platform/temporal-client';
import { startTracing } from '../platform/tracing/start';
import { type PeriodicJob, runPeriodically } from './periodic-jobs';
import { answers, runMain, shutdownSignal, untilUp } from './process';
import { connectWorkers, logTemporalWith, serveActivities } from './temporal-worker';

runMain('authoriser', async () => {
  const config = readConfig([
    'GATEWAY_ENV',
    'LOG_LEVEL',
    'DATABASE_URL',
    'DATABASE_POOL_SIZE',
    'CHAINS',
    'METRICS_HOST',
    'METRICS_PORT',
    'ORDER_KEY',
    'ORDER_KEYS',
    'DEPLOYMENT_ID',
    'KEY_POOL_SIZE',
    'MPC_NODE_PEER_CERTS',
    'MPC_NODE_FORMER_CERTS',
  ]);
  const logger = createLogger('authoriser', config.LOG_LEVEL);
  const stop = shutdownSignal();
  const stopTracing = startTracing('authoriser', logger);
  logTemporalWith(logger);

  const signer = await OrderSigner.create(config.ORDER_KEY);
  const orderKeys = await OrderKeys.create(withOwnKey(config.ORDER_KEYS, signer.publicKey), 'ORDER_KEYS');
  const registry = loadRegistry(config.GATEWAY_ENV, config.CHAINS.split(','));
  const nodeKeys = readNodeKeys(config.MPC_NODE_PEER_CERTS, config.MPC_NODE_FORMER_CERTS);
  const database = createDatabase({
    url: config.DATABASE_URL,
    poolSize: config.DATABASE_POOL_SIZE,
    applicationName: 'gateway-authoriser',
    entities,
  });
  collectPoolMetrics('main', database);
  const running = { worker: false };
  const health = await startHealthListener({
    process: 'authoriser',
    host: config.METRICS_HOST,
    port: config.METRICS_PORT,
    ready: async () => ({
      database: await answers(() => database.query('select 1')),
      worker: running.worker,
      orders: await areOrdersCompared(database).catch(() => false),
    }),
  });

  await untilUp('Postgres', () => connectAs(database, 'gateway_authoriser'), logger, stop);
  const connection = await untilUp('Temporal', () => connectWorkers(), logger, stop);
  if (!connection) return;
  const deployment = config.DEPLOYMENT_ID;
  const orders = new Orders({ signer, deployment });
  const temporal = createTemporalClient();
  const ask = asksForOrders(temporal, nodeKeys);
  const comparison = new OrderComparison({ database, ask, keys: orderKeys, deployment, logger });
  const compare: PeriodicJob = {
    name: 'compare the orders with those of the signing nodes',
    everyMs: 2_000,
    run: async () => void (await comparison.run()),
  };
  const worker: WorkerOptions = {
    connection,
    taskQueue: authoriserTaskQueue,
    activities: withMappedErrors(
      createAuthoriserActivities({
        ...{ database, registry, getFamily, orders, nodeKeys, log: logger },
        keyPoolSize: config.KEY_POOL_SIZE,
      }),
      logger,
    ),
    // each holds one connection at a time
    maxConcurrentActivityTaskExecutions: config.DATABASE_POOL_SIZE,
    shutdownGraceTime: '10 seconds',
  };
  try {
    await Promise.all([serveActivities(worker, { running, logger, stop }), runPeriodically(compare, logger, stop)]);
  } finally {
    await connection.close();
    await temporal.connection.close();
    await database.destroy();
    await health.close();
    await stopTracing();
    logger.info('authoriser has stopped');
  }
});
