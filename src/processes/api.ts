import { accountKeyGenerationOn } from '../accounts/key-generation';
import { createPaymentClients } from '../chains/clients';
import { getFamily } from '../chains/families';
import { loadRegistry } from '../chains/registry';
import { entities } from '../entities';
import { collectPoolMetrics } from '../health/pool-metrics';
import { decisiveChecks } from '../health/service';
import { createApp } from '../http/app';
import { toLimitSettings, limitVariables } from '../http/limits/settings';
import { listen } from '../http/server';
import { readNodeKeys } from '../mpc/identity';
import { readConfig } from '../platform/config';
import { createDatabase } from '../platform/database';
import { connectAs } from '../platform/database-login';
import { createLogger } from '../platform/logging';
import { startHealthListener } from '../platform/metrics';
import { createTemporalClient } from '../platform/temporal-client';
import { startTracing } from '../platform/tracing/start';
import { transferWorkflowsOn } from '../transfers/start/workflows';
import { keyGenerationOn } from '../wallets/key-generation';
import { createTargetGuard } from '../webhooks/ssrf-guard';
import { runMain, shutdownSignal, untilUp } from './process';
import { runPeriodically } from './periodic-jobs';
import { createResources } from './resources';
import { createSecretBoxes, secretKeyVariables } from './secret-boxes';
import { generationLimitVariables, startLimitVariables, toGenerationLimits, toStartLimits } from './workflow-outbox';

/** Responses are given up after 90 s, and a payment is verified before it is settled. */
const longestSettleMs = 70_000;

runMain('api', async () => {
  const config = readConfig([
    'GATEWAY_ENV',
    'LOG_LEVEL',
    'DATABASE_URL',
    'DATABASE_POOL_SIZE',
    ...secretKeyVariables,
    'CHAINS',
    'API_HOST',
    'API_PORT',
    'API_TRUST_PROXY',
    'API_TRUST_TRACEPARENT',
    'METRICS_HOST',
    'METRICS_PORT',
    'JWT_PRIVATE_KEY',
    'JWT_PUBLIC_KEYS',
    'JWT_ISSUER',
    'JWT_AUDIENCE',
    'JWT_TTL_SECONDS',
    'MPC_NODE_HEALTH_URLS',
    'MPC_NODE_PEER_CERTS',
    'MPC_NODE_FORMER_CERTS',
    'APPROVAL_WAIT_SECONDS',
    'X402_SETTLE_WAIT_MS',
    'X402_SETTLE_WAIT_V1_MS',
    ...startLimitVariables,
    ...generationLimitVariables,
    ...limitVariables,
  ]);
  const log = createLogger('api', config.LOG_LEVEL);
  const stop = shutdownSignal();
  const stopTracing = startTracing('api', log);
  const registry = loadRegistry(config.GATEWAY_ENV, config.CHAINS.split(','));
  const database = createDatabase({
    url: config.DATABASE_URL,
    poolSize: config.DATABASE_POOL_SIZE,
    applicationName: 'gateway-api',
    entities,
    statementTimeoutMs: 8_000,
  });
  const temporal = createTemporalClient();
  const resources = await createResources({
    database,
    temporal,
    registry,
    getFamily,
    payments: createPaymentClients(registry),
    keyGeneration: keyGenerationOn(temporal),
    accountKeyGeneration: accountKeyGenerationOn(temporal),
    workflows: transferWorkflowsOn(temporal),
    tokenOptions: {
      privateKey: config.JWT_PRIVATE_KEY,
      publicKeys: config.JWT_PUBLIC_KEYS,
      issuer: config.JWT_ISSUER,
      audience: config.JWT_AUDIENCE,
      ttlSeconds: config.JWT_TTL_SECONDS,
    },
    boxes: createSecretBoxes(config),
    approvalWaitSeconds: config.APPROVAL_WAIT_SECONDS,
    settleWaitMs: { 1: config.X402_SETTLE_WAIT_V1_MS, 2: config.X402_SETTLE_WAIT_MS, longest: longestSettleMs },
    startLimits: toStartLimits(config),
    generationLimits: toGenerationLimits(config),
    limits: toLimitSettings(config),
    webhookTargets: createTargetGuard(config.GATEWAY_ENV),
    signerUrls: config.MPC_NODE_HEALTH_URLS.split(',').map((url) => url.trim()),
    nodeKeys: readNodeKeys(config.MPC_NODE_PEER_CERTS, config.MPC_NODE_FORMER_CERTS),
    log,
  });
  collectPoolMetrics('main', database);
  const app = createApp({
    ...resources,
    log,
    trustProxy: config.API_TRUST_PROXY,
    trustTraceParent: config.API_TRUST_PROXY && config.API_TRUST_TRACEPARENT,
    environment: config.GATEWAY_ENV,
  });

  const server = await listen(app, config.API_HOST, config.API_PORT);
  // metrics and detailed health are for operators: on a separate address, which clients must not reach
  const healthListener = await startHealthListener({
    process: 'api',
    host: config.METRICS_HOST,
    port: config.METRICS_PORT,
    ready: () => resources.health.ready(),
    decisive: decisiveChecks,
  });
  log.info({ host: config.API_HOST, port: server.port, metrics_port: healthListener.port }, 'listening');
  const measureReadiness = {
    name: 'measure the readiness',
    everyMs: 15_000,
    run: async () => void (await resources.health.ready()),
  };
  // a dependency that is down delays readiness and not the start, and its absence is measured
  const housekeeping = untilUp('Postgres', () => connectAs(database, 'gateway_api'), log, stop).then(() =>
    Promise.all(resources.housekeeping.map((job) => runPeriodically(job, log, stop))),
  );
  const jobs = Promise.all([housekeeping, runPeriodically(measureReadiness, log, stop)]);
  const stopped = new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve(), { once: true }));
  // a login with the wrong rights ends the process
  await Promise.race([stopped, jobs]);
  log.info('stopping: requests in flight are finished');
  resources.watch.hurry();
  resources.payments.hurry();
  await server.close();
  await healthListener.close();
  await jobs;
  await resources.outbox.settled();
  await temporal.connection.close();
  if (database.isInitialized) await database.destroy();
  await stopTracing();
  log.info('stopped');
});
