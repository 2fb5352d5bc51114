import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../../dev/paths';
import { bootStack, type RunningStack } from '../../dev/stack';
import { whileHeld } from './held';
import { PostgresProxy } from './postgres-proxy';
import { SpanReceiver } from './span-receiver';
import { prepareBtcd } from './prepare-btcd';
import { sweepOldRuns } from './sweep';

export interface TestStack {
  running: RunningStack;
  dataDir: string;
  proxy: PostgresProxy | undefined;
  spans: SpanReceiver | undefined;
}

/** Where a wallet is created now and then, one key waits for it; elsewhere the nodes would generate keys beside what is tested or measured. */
function keyPoolSize(project: string | undefined, { patterns }: JestRun['testPathPatterns']): string {
  if (project === 'bench') return patterns.some((pattern) => pattern.includes('wallets')) ? '4' : '0';
  return project === 'e2e' || project === 'crash' ? '1' : '0';
}

interface JestRun {
  testPathPatterns: { patterns: string[] };
}

interface JestProject {
  displayName?: { name: string };
}

/** The developer's environment must not affect the tests: they start everything themselves. */
const overrides = /^(DATABASE_(OWNER_)?URL|TEMPORAL_(ADDRESS|NAMESPACE)|CHAINS$|CHAIN_\w+_RPC_URLS|MPC_NODE_|API_|OTEL_)/;

/**
 * One fresh stack for all test files of a run, on free ports: the compiled processes, supervised by this one. With
 * GATEWAY_TEST_STACK naming the stack.json of a running stack, that one is used and left alone. In the project `crash` API, worker
 * and authoriser reach Postgres through a proxy that can cut their connections.
 */
export default async function startStack({ testPathPatterns }: JestRun, { displayName }: JestProject): Promise<void> {
  const given = process.env.GATEWAY_TEST_STACK;
  if (given && existsSync(given)) return;
  execFileSync(process.execPath, [path.join(projectRoot, 'scripts', 'build.mjs')], {
    cwd: projectRoot,
    stdio: 'inherit',
    timeout: 180_000,
  });
  await prepareBtcd();
  const parent = path.join(projectRoot, '.dev');
  await sweepOldRuns(parent);
  const dataDir = path.join(parent, `test-${process.pid}`);
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !overrides.test(name)));
  let proxy: PostgresProxy | undefined;
  const throughProxy = async (url: string) => (proxy = await PostgresProxy.start(url, dataDir)).url;
  const isCrash = displayName?.name === 'crash';
  const routeDatabase = isCrash ? throughProxy : undefined;
  // whatever is held in a gap has a connection
  if (isCrash) env.DATABASE_POOL_SIZE ??= '16';
  // a bench lets more transfers of one client wait than are allowed by default
  if (displayName?.name === 'bench') {
    env.MAX_PENDING_STARTS ??= '30000';
    env.MAX_PENDING_STARTS_PER_CLIENT ??= '20000';
  }
  // files that settle at the same time share one settler: on a busy machine a payment waits in line for longer than its seller would
  if (displayName?.name === 'payments') env.X402_SETTLE_WAIT_MS ??= '70000';
  env.KEY_POOL_SIZE ??= keyPoolSize(displayName?.name, testPathPatterns);
  // everywhere else the processes run without traces, as they do by default
  const spans = displayName?.name === 'e2e' ? await SpanReceiver.start() : undefined;
  if (spans) env.OTEL_EXPORTER_OTLP_ENDPOINT = process.env.GATEWAY_TEST_SPANS = spans.url;
  const beforeStart = (name: string) => whileHeld(dataDir, name);
  // elsewhere the generation of one more key would take time from what is tested
  const settlers = ['e2e', 'payments', 'crash', 'bench'].includes(displayName?.name ?? '');
  const running = await bootStack({
    ...{ dataDir, env, quiet: true, throwaway: true, reset: true },
    ...{ settlers, routeDatabase, beforeStart },
  });
  process.env.GATEWAY_TEST_STACK = running.stackFile;
  (globalThis as { testStack?: TestStack }).testStack = { running, dataDir, proxy, spans };
}
