import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { loadRegistry } from '../src/chains/registry';
import { migrations } from '../migrations';
import { entities } from '../src/entities';
import { registerSearchAttributes } from '../src/cli/search-attributes';
import { createDatabase } from '../src/platform/database';
import { createTemporalClient } from '../src/platform/temporal';
import { type DevClient, seedClients } from './clients';
import { writeJson } from './files';
import { apiSpec, gatewayDatabase, hasForeignNodes, nodeSpecs, type StackEnvironment, workerSpec } from './gateway-services';
import { type PartsContext, startChain, startPostgres, startTemporal } from './services';
import { devPaths } from './paths';
import { postgresHome } from './postgres';
import { plainSteps, quietSteps, type Step, type StepRunner, terminalSteps } from './progress';
import { claim, endLeftovers, groupPids, release, type StackChain, type StackFile } from './stack-file';
import { type RunningProcess, Supervisor } from './supervisor';

export interface BootOptions {
  dataDir: string;
  /** Nothing is printed while all goes well. */
  quiet?: boolean;
  /** Takes free ports instead of the well-known ones, and does not flush data to disk: for tests. */
  throwaway?: boolean;
  /** Begins with empty data. */
  reset?: boolean;
  /** Overrides and settings of the processes; process.env unless given. */
  env?: NodeJS.ProcessEnv;
  /** Aborts the start: what runs by then is stopped. */
  signal?: AbortSignal;
}

export interface RunningStack {
  stackFile: string;
  stack: StackFile;
  /** Ends everything, the gateway's processes first. */
  stop: () => Promise<void>;
}

export class AlreadyRunning extends Error {}

const defaultChains = 'ethereum,base';
/** Callers go before what they call. */
const stopOrder = [['api'], ['worker'], ['mpc'], ['temporal', 'chain:*'], ['postgres']];

/**
 * Starts everything on one machine and returns when it is ready to serve. The caller's process is the supervisor from then on.
 * @throws AlreadyRunning when a stack runs on this data; Error saying what failed and what to do about it.
 */
export async function bootStack(options: BootOptions): Promise<RunningStack> {
  const { dataDir, quiet = false, throwaway = false, reset = false, env = process.env, signal } = options;
  const paths = devPaths(dataDir);
  const say = (line: string) => void (quiet || process.stdout.write(`${line}\n`));
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

  signal?.addEventListener('abort', () => void stop(), { once: true });
  try {
    const leftovers = await endLeftovers(paths);
    if (leftovers.length > 0) say(`ended what a killed stack had left: ${leftovers.join(', ')}`);
    if (reset) emptyData(dataDir);
    mkdirSync(paths.logs, { recursive: true });
    supervisor = new Supervisor({ logs: paths.logs, say, changed });
    supervisor.reaper.removeAtEnd(paths.stackFile);
    const context: PartsContext = {
      paths,
      supervisor,
      env,
      throwaway,
      preferred: (port) => (throwaway ? 0 : port),
      onStop: (action) => stopActions.push(action),
    };
    signal?.throwIfAborted();
    stack = await bootParts(context, runnerFor(quiet));
    signal?.throwIfAborted();
    changed(supervisor.processes);
    return { stackFile: paths.stackFile, stack, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Removes the data, not the folder's other content (logs tell what happened before). */
export function emptyData(dataDir: string): void {
  const paths = devPaths(dataDir);
  const outside = existsSync(paths.postgres) ? postgresHome(paths.postgres) : paths.postgres;
  for (const used of [outside, paths.postgres, paths.secrets, paths.chains, `${dataDir}/temporal`])
    rmSync(used, { recursive: true, force: true });
}

async function bootParts(context: PartsContext, runSteps: StepRunner): Promise<StackFile> {
  const { env, supervisor } = context;
  const registry = loadRegistry('local', (env.CHAINS || defaultChains).split(','));
  const chains: Record<string, StackChain> = {};
  const temporal = {
    address: env.TEMPORAL_ADDRESS ?? '',
    namespace: env.TEMPORAL_NAMESPACE ?? 'default',
    ui: null as string | null,
  };
  let superuserUrl: string | null = null;
  let databaseUrl = env.DATABASE_URL ?? '';
  let clients: DevClient[] = [];
  let baseUrl = '';

  const postgres: Step = {
    title: databaseUrl ? 'Postgres (DATABASE_URL)' : 'Postgres',
    run: async () => {
      if (needsPostgres(env)) superuserUrl = await startPostgres(context);
      if (!databaseUrl && superuserUrl) databaseUrl = await gatewayDatabase(context, superuserUrl);
      clients = await migrateAndSeed(databaseUrl, context.paths.secrets);
    },
  };
  const workflowServer: Step = {
    title: temporal.address ? `Temporal (TEMPORAL_ADDRESS)` : 'Temporal',
    run: async (note) => {
      if (temporal.address) await prepareForeignTemporal();
      else Object.assign(temporal, await startTemporal(context, note));
    },
  };
  const chainSteps = registry.all.map((chain, index): Step => ({
    title: `chain ${chain.name}`,
    run: async () => void (chains[chain.name] = await startChain(context, chain, index)),
  }));
  const surroundings = (): StackEnvironment => {
    const inOrder = Object.fromEntries(registry.all.flatMap(({ name }) => (chains[name] ? [[name, chains[name]]] : [])));
    return { databaseUrl, superuserUrl, temporalAddress: temporal.address, chains: inOrder };
  };
  let prepared: ReturnType<typeof nodeSpecs> | undefined;
  const prepareNodes = () =>
    (prepared ??= hasForeignNodes(env) ? Promise.resolve({ specs: [], healthUrls: [] }) : nodeSpecs(context, surroundings()));
  const nodes: Step = {
    title: hasForeignNodes(env) ? 'MPC nodes (MPC_NODE_HEALTH_URLS)' : 'three MPC nodes',
    run: async () => {
      const { specs } = await prepareNodes();
      await Promise.all(specs.map((spec) => supervisor.start(spec)));
    },
  };
  const worker: Step = { title: 'worker', run: async () => supervisor.start(await workerSpec(context, surroundings())) };
  const api: Step = {
    title: 'API',
    run: async () => {
      const { healthUrls } = await prepareNodes();
      const { spec, baseUrl: url } = await apiSpec(context, surroundings(), healthUrls);
      baseUrl = url;
      await supervisor.start(spec);
    },
  };

  await runSteps([
    [postgres, workflowServer, ...chainSteps],
    [nodes, worker, api],
  ]);
  return {
    base_url: baseUrl,
    clients,
    temporal,
    postgres: { url: databaseUrl },
    chains: surroundings().chains,
    processes: groupPids(supervisor.processes),
  };
}

function needsPostgres(env: NodeJS.ProcessEnv): boolean {
  const nodesHaveTheirs = hasForeignNodes(env) || [1, 2, 3].every((index) => env[`MPC_NODE_${index}_DATABASE_URL`]);
  return !env.DATABASE_URL || !nodesHaveTheirs;
}

async function migrateAndSeed(url: string, secrets: string): Promise<DevClient[]> {
  const database = createDatabase({
    url,
    poolSize: 2,
    applicationName: 'gateway-dev',
    entities,
    migrations,
    statementTimeoutMs: 180_000,
  });
  await database.initialize();
  try {
    await database.runMigrations({ transaction: 'each' });
    return await seedClients(database, secrets);
  } finally {
    await database.destroy();
  }
}

/** The embedded server gets the search attributes at its start; one from outside may lack them. */
async function prepareForeignTemporal(): Promise<void> {
  const client = createTemporalClient();
  try {
    await registerSearchAttributes(client);
  } finally {
    await client.connection.close();
  }
}

function runnerFor(quiet: boolean): StepRunner {
  if (quiet) return quietSteps;
  // some pseudo-terminals say they have no columns at all
  return process.stdout.isTTY && process.stdout.columns > 40
    ? terminalSteps
    : plainSteps((line) => process.stdout.write(`${line}\n`));
}
