import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { loadRegistry } from '../src/chains/registry';
import { registerSearchAttributes } from '../src/cli/search-attributes';
import { createTemporalClient } from '../src/platform/temporal-client';
import type { DevClient } from './clients';
import { getOrCreateSecret, writeJson } from './files';
import {
  apiSpec,
  authoriserSpec,
  gatewayDatabase,
  hasExternalNodes,
  nodeSpecs,
  type StackEnvironment,
  workerSpec,
} from './gateway-services';
import { type ServicesContext, startPostgres, startTemporal } from './services';
import { startChain } from './local-chains';
import { migrateAndSeed } from './migrate-and-seed';
import { devPaths } from './paths';
import { withAddress, createLogins, type LoginUrls } from './logins';
import { randomPassword } from '../src/cli/setup/new-secrets';
import { postgresHome } from './postgres';
import { lineRunner, quietRunner, type Step, type TaskRunner, terminalRunner } from './progress';
import { setUpSettlers } from './settlers';
import { claim, endLeftovers, groupPids, release, type StackChain, type StackFile } from './stack-file';
import { type RunningProcess, Supervisor } from './supervisor';

export interface BootOptions {
  dataDir: string;
  /** Prints only problems. */
  quiet?: boolean;
  /** Takes free ports instead of the well-known ones, and does not flush data to disk: for tests. */
  throwaway?: boolean;
  /** Starts with empty data. */
  reset?: boolean;
  /** Environment of the processes; default process.env. */
  env?: NodeJS.ProcessEnv;
  /** Given the url of the gateway's database, returns one at the address that its processes use: for tests with a proxy between them. */
  routeDatabase?: (url: string) => Promise<string>;
  /** Waited for before every start of a process: for tests that keep one from being started. */
  beforeStart?: (name: string) => Promise<void>;
  /** Has the key of the house generated once the stack runs, and settlers created, so that it serves x402. */
  settlers?: boolean;
  /** Aborts the start and stops what is running. */
  signal?: AbortSignal;
}

export interface RunningStack {
  stackFile: string;
  stack: StackFile;
  /** Ends everything, the gateway's processes first. */
  stop: () => Promise<void>;
}

export class AlreadyRunning extends Error {}

const settlerSetup = { forMs: 1_800_000, pauseMs: 5_000 };
const defaultChains = 'ethereum,base,bitcoin,tron,solana';
/** A process is stopped before those it depends on. */
const stopOrder = [['api'], ['worker'], ['authoriser'], ['mpc'], ['temporal', 'chain:*'], ['postgres']];

/**
 * Starts all services on one machine and returns when they are ready. The calling process is the supervisor.
 * @throws AlreadyRunning when a stack runs on this data; Error with the cause and a solution.
 */
export async function bootStack(options: BootOptions): Promise<RunningStack> {
  const {
    dataDir,
    quiet = false,
    throwaway = false,
    reset = false,
    settlers = false,
    env = process.env,
    signal,
    routeDatabase,
    beforeStart,
  } = options;
  const paths = devPaths(dataDir);
  const log = (line: string) => void (quiet || process.stdout.write(`${line}\n`));
  if (!claim(paths)) throw new AlreadyRunning(`a stack is running on ${dataDir}`);

  const stopActions: (() => void)[] = [];
  let supervisor: Supervisor | undefined;
  let stack: StackFile | undefined;
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= stopAll());
  const stopAll = async () => {
    for (const action of stopActions) action();
    await supervisor?.stop(stopOrder);
    release(paths);
  };
  const changed = (processes: RunningProcess[]) => {
    writeJson(paths.processFile, processes);
    if (!stack || stopped) return;
    stack.processes = groupPids(processes);
    writeJson(paths.stackFile, stack);
  };

  /**
   * Nobody waits for it: generating a key takes longer than the start. Tried again, since a loaded machine may not be ready in time: while the
   * nodes generate keys of wallets, that of a settler with a key of its own is not there in time. Each chain for itself: one that fails does not keep back those after it.
   */
  const createSettlers = async (running: StackFile) => {
    const registry = readRegistry(env);
    const missing = new Map(Object.entries(running.chains));
    for (const until = Date.now() + settlerSetup.forMs; missing.size > 0 && Date.now() < until && !stopped;) {
      for (const [name, chain] of [...missing]) {
        if (stopped) return;
        try {
          const alone = { ...running, chains: { [name]: chain } };
          const created = await setUpSettlers({ stack: alone, secrets: paths.secrets, registry });
          missing.delete(name);
          running.settlers = { ...running.settlers, ...created };
          if (supervisor) changed(supervisor.processes);
        } catch (error) {
          if (!stopped) log(`x402: no settler on ${name}, ${error instanceof Error ? error.message : String(error)}`);
        }
      }
      if (missing.size > 0) await delay(settlerSetup.pauseMs, undefined, { ref: false });
    }
    if (missing.size === 0) log('x402: settlers are ready');
    else if (!stopped) log(`x402: there are no settlers on ${[...missing.keys()].join(', ')}; nothing is settled there`);
  };

  signal?.addEventListener('abort', () => void stop(), { once: true });
  try {
    const leftovers = await endLeftovers(paths);
    if (leftovers.length > 0) log(`ended processes left by a killed stack: ${leftovers.join(', ')}`);
    if (reset) emptyData(dataDir);
    mkdirSync(paths.logs, { recursive: true });
    supervisor = new Supervisor({ logs: paths.logs, log, changed, beforeStart });
    supervisor.reaper.removeAtEnd(paths.stackFile);
    const context: ServicesContext = {
      paths,
      supervisor,
      env,
      throwaway,
      log,
      preferred: (port) => (throwaway ? undefined : port),
      onStop: (action) => stopActions.push(action),
    };
    signal?.throwIfAborted();
    stack = await bootServices(context, runnerFor(quiet), routeDatabase);
    signal?.throwIfAborted();
    changed(supervisor.processes);
    if (settlers && !hasExternalNodes(env)) void createSettlers(stack);
    return { stackFile: paths.stackFile, stack, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Removes the data, but not the logs. */
export function emptyData(dataDir: string): void {
  const paths = devPaths(dataDir);
  const outside = existsSync(paths.postgres) ? postgresHome(paths.postgres) : paths.postgres;
  for (const used of [outside, paths.postgres, paths.secrets, paths.chains, `${dataDir}/temporal`])
    rmSync(used, { recursive: true, force: true });
}

const readRegistry = (env: NodeJS.ProcessEnv) =>
  loadRegistry(
    'local',
    (env.DEV_CHAINS || env.CHAINS || defaultChains).split(',').map((name) => name.trim()),
  );

async function bootServices(
  context: ServicesContext,
  runTasks: TaskRunner,
  routeDatabase: BootOptions['routeDatabase'],
): Promise<StackFile> {
  const { env, supervisor } = context;
  const registry = readRegistry(env);
  const chains: Record<string, StackChain> = {};
  const temporal = {
    address: env.TEMPORAL_ADDRESS ?? '',
    namespace: env.TEMPORAL_NAMESPACE ?? 'default',
    ui: null as string | null,
  };
  let superuserUrl: string | null = null;
  let databaseUrl = env.DATABASE_URL ?? '';
  let logins: LoginUrls | undefined;
  let routed: LoginUrls | undefined;
  let clients: DevClient[] = [];
  let baseUrl = '';
  let healthUrl = '';

  const postgres: Step = {
    title: databaseUrl ? 'Postgres (DATABASE_URL)' : 'Postgres',
    run: async () => {
      if (needsPostgres(env)) superuserUrl = await startPostgres(context);
      if (!databaseUrl && superuserUrl) databaseUrl = await gatewayDatabase(context, superuserUrl);
      clients = await migrateAndSeed(databaseUrl, context.paths.secrets, registry);
      logins = await createLogins(databaseUrl, (login) =>
        getOrCreateSecret(context.paths.secrets, `postgres-${login}`, randomPassword),
      );
      routed = routeDatabase ? withAddress(logins, await routeDatabase(databaseUrl)) : logins;
    },
  };
  const workflowServer: Step = {
    title: temporal.address ? `Temporal (TEMPORAL_ADDRESS)` : 'Temporal',
    run: async (note) => {
      if (temporal.address) await prepareExternalTemporal();
      else Object.assign(temporal, await startTemporal(context, note));
    },
  };
  const chainSteps = registry.all.map((chain, index): Step => ({
    title: `chain ${chain.name}`,
    run: async (note) => {
      const started = await startChain(context, chain, index, note);
      if (started) chains[chain.name] = started;
    },
  }));
  const environment = (): StackEnvironment => {
    const inOrder = Object.fromEntries(registry.all.flatMap(({ name }) => (chains[name] ? [[name, chains[name]]] : [])));
    if (!routed) throw new Error('the database has no logins yet');
    return { databaseUrls: routed, superuserUrl, temporalAddress: temporal.address, chains: inOrder };
  };
  let prepared: ReturnType<typeof nodeSpecs> | undefined;
  const prepareNodes = () =>
    (prepared ??= hasExternalNodes(env) ? Promise.resolve({ specs: [], healthUrls: [] }) : nodeSpecs(context, environment()));
  const nodes: Step = {
    title: hasExternalNodes(env) ? 'MPC nodes (MPC_NODE_HEALTH_URLS)' : 'three MPC nodes',
    run: async () => {
      const { specs } = await prepareNodes();
      await Promise.all(specs.map((spec) => supervisor.start(spec)));
    },
  };
  const worker: Step = { title: 'worker', run: async () => supervisor.start(await workerSpec(context, environment())) };
  const authoriser: Step = {
    title: 'authoriser',
    run: async () => {
      // creates the nodes' certificates, which the authoriser is given
      await prepareNodes();
      await supervisor.start(await authoriserSpec(context, environment()));
    },
  };
  const api: Step = {
    title: 'API',
    run: async () => {
      const { healthUrls } = await prepareNodes();
      const { spec, ...urls } = await apiSpec(context, environment(), healthUrls);
      ({ baseUrl, healthUrl } = urls);
      await supervisor.start(spec);
    },
  };

  await runTasks([
    [postgres, workflowServer, ...chainSteps],
    [nodes, worker, authoriser, api],
  ]);
  return {
    base_url: baseUrl,
    health_url: healthUrl,
    clients,
    temporal,
    postgres: { url: databaseUrl, operator_url: logins?.gateway_operator ?? '' },
    chains: environment().chains,
    settlers: {},
    processes: groupPids(supervisor.processes),
  };
}

function needsPostgres(env: NodeJS.ProcessEnv): boolean {
  const nodesHaveDatabases = hasExternalNodes(env) || [1, 2, 3].every((index) => env[`MPC_NODE_${index}_DATABASE_URL`]);
  return !env.DATABASE_URL || !nodesHaveDatabases;
}

/** The embedded server is started with the search attributes; an external one may lack them. */
async function prepareExternalTemporal(): Promise<void> {
  const client = createTemporalClient();
  try {
    await registerSearchAttributes(client);
  } finally {
    await client.connection.close();
  }
}

function runnerFor(quiet: boolean): TaskRunner {
  if (quiet) return quietRunner;
  // some pseudo-terminals report zero columns
  return process.stdout.isTTY && process.stdout.columns > 40
    ? terminalRunner
    : lineRunner((line) => process.stdout.write(`${line}\n`));
}
