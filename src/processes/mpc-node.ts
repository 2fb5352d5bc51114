import type { WorkerOptions } from '@temporalio/worker';
import { migrations } from '../../migrations/mpc-node';
import { untilCancelled, withMappedErrors } from '../../activities/errors';
import { createProvers } from '../chains/clients';
import { rpcUrlsVariable } from '../chains/config';
import { getFamily } from '../chains/families';
import { loadRegistry } from '../chains/registry';
import { collectPoolMetrics } from '../health/pool-metrics';
import { Identity, identityVariables, toIdentityFiles } from '../mpc/identity';
import { nodeTaskQueue } from '../messages/task-queues';
import { createMpcNode, type MpcNode } from '../mpc/node';
import { NodeLimits } from '../mpc/limits';
import { OrderVerifier } from '../mpc/order-verifier';
import { verifyModule } from '../mpc/protocol/pool';
import { parseKeks } from '../mpc/share-cipher';
import { ShareStore } from '../mpc/store';
import { parsePeers } from '../mpc/transport-client';
import { ConfigError, readConfig } from '../platform/config';
import { createLogger } from '../platform/logging';
import { startHealthListener } from '../platform/metrics';
import { startTracing } from '../platform/tracing/start';
import { runMain, shutdownSignal, untilUp } from './process';
import { connectWorkers, logTemporalWith, serveActivities } from './temporal-worker';

/** Concurrent activities; key generations take only a few of them (src/mpc/node-activities.ts). */
const activitySlots = 50;

runMain('mpc-node', async () => {
  // before anything is connected: another module would have the shares
  verifyModule();
  const config = readConfig([
    'GATEWAY_ENV',
    'LOG_LEVEL',
    'CHAINS',
    'METRICS_HOST',
    'METRICS_PORT',
    ...identityVariables,
    'MPC_NODE_DATABASE_URL',
    'MPC_NODE_LISTEN_HOST',
    'MPC_NODE_LISTEN_PORT',
    'MPC_NODE_PEERS',
    'MPC_NODE_KEK',
    'MPC_NODE_JOURNAL_MARK',
    'MPC_NODE_LIMITS',
    'MPC_NODE_ORDER_KEYS',
    'MPC_NODE_DEPLOYMENT',
  ]);
  const index = config.MPC_NODE_INDEX;
  const logger = createLogger(`mpc-node-${index}`, config.LOG_LEVEL);
  const stop = shutdownSignal();
  const stopTracing = startTracing(`mpc-node-${index}`, logger);
  logTemporalWith(logger);

  const registry = loadRegistry(config.GATEWAY_ENV, config.CHAINS.split(','));
  const limits = config.MPC_NODE_LIMITS ? NodeLimits.read(config.MPC_NODE_LIMITS, { registry, getFamily }) : null;
  if (!limits) logger.warn('MPC_NODE_LIMITS is not set: this node has no limits of its own');
  const provers = createProvers(registry);
  for (const { name, family } of registry.all)
    if (getFamily(family).rules.expired === 'reissue' && !provers.has(name))
      logger.warn({ chain: name }, `${rpcUrlsVariable(name)} is not set: this node refuses reissues on the chain`);
  const peers = parsePeers(config.MPC_NODE_PEERS);
  if (peers.size !== 2 || peers.has(index)) throw new ConfigError(`MPC_NODE_PEERS must name the two other nodes than ${index}`);

  const identity = new Identity(toIdentityFiles(config));

  const orders = await OrderVerifier.create({
    keys: config.MPC_NODE_ORDER_KEYS,
    deployment: config.MPC_NODE_DEPLOYMENT,
    logger,
  });

  const running: { node?: MpcNode; worker: boolean } = { worker: false };
  const health = await startHealthListener({
    process: 'mpc-node',
    host: config.METRICS_HOST,
    port: config.METRICS_PORT,
    ready: async () => {
      const [database, reachable] = await Promise.all([
        running.node?.databaseAnswers() ?? false,
        running.node?.reachablePeers() ?? [],
      ]);
      return {
        database,
        journal: running.node?.journalIsComplete() ?? false,
        temporal: running.worker,
        peers: reachable.length > 0 ? `reachable: ${reachable.join(', ')}` : 'none reachable',
      };
    },
  });

  const keks = parseKeks(config.MPC_NODE_KEK);
  const url = config.MPC_NODE_DATABASE_URL;
  const store = await untilUp(
    "this node's Postgres",
    () => ShareStore.open({ url, node: index, keks, migrations }),
    logger,
    stop,
  );
  if (!store) return;
  const node = await createMpcNode({
    identity,
    peers,
    listen: { host: config.MPC_NODE_LISTEN_HOST, port: config.MPC_NODE_LISTEN_PORT },
    store,
    mark: config.MPC_NODE_JOURNAL_MARK,
    limits,
    registry,
    orders,
    provers,
    logger,
  });
  running.node = node;
  // at once: what is given up frees the activities that wait for it
  stop.addEventListener('abort', () => void node.drain(), { once: true });
  collectPoolMetrics('node', store.database);
  logger.info({ port: config.MPC_NODE_LISTEN_PORT, metrics_port: health.port }, 'listening for peers');

  // peers can use this node while Temporal is down: only the requests that come through Temporal wait
  const connection = await untilUp('Temporal', () => connectWorkers(), logger, stop);
  if (connection) {
    const worker: WorkerOptions = {
      connection,
      taskQueue: nodeTaskQueue(index),
      identity: `mpc-node-${index}`,
      activities: withMappedErrors(untilCancelled(node.activities, 'this node is stopping'), logger),
      maxConcurrentActivityTaskExecutions: activitySlots,
      // sessions have ended before: what still runs then waits for this node's database
      shutdownGraceTime: '6 seconds',
      // with time to tell Temporal, which may be busy
      shutdownForceTime: '14 seconds',
    };
    try {
      await serveActivities(worker, { running, logger, stop });
      await connection.close();
    } catch (error) {
      if (!stop.aborted) throw error;
      // a Temporal that does not answer keeps nothing else of this node open; it finds out by its time-outs
      logger.warn({ err: error }, 'Temporal could not be told how ended what it had asked for');
    }
  }
  await node.close();
  await health.close();
  await stopTracing();
  logger.info('mpc node has stopped');
});
