import { defaultDataDir, devPaths } from '../paths';
import { readJson } from '../files';
import { until } from '../processes';
import { AlreadyRunning, bootStack } from '../stack';
import type { StackFile } from '../stack-file';
import { runSale } from './sale';
import { type ScenarioOutput, runScenario } from './scenario';

/** How long to wait for a stack that another terminal is starting. */
const otherStartMs = 120_000;

/**
 * `npm run demo`: starts the stack if none is running, shows deposit, transfer and an x402 payment on it, and stops the stack if it has started it.
 */
async function main(): Promise<void> {
  const dataDir = defaultDataDir();
  const shutdown = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => shutdown.abort(new Error(`stopped by ${signal}`)));
  const aborted = new Promise<never>((_, reject) =>
    shutdown.signal.addEventListener('abort', () => reject(shutdown.signal.reason as Error)),
  );
  aborted.catch(() => undefined);

  const { stack, stop } = await findOrBoot(dataDir, shutdown.signal);
  // settlers are added to the file when they are ready
  const readStack = () => readJson<StackFile>(devPaths(dataDir).stackFile) ?? stack;
  const output = consoleOutput();
  try {
    await Promise.race([runScenario(readStack, output).then(() => runSale(readStack, output)), aborted]);
    console.log('\nDone: all of this used the REST API, Temporal, three signing nodes and a real chain node.');
  } finally {
    await stop();
  }
}

async function findOrBoot(dataDir: string, signal: AbortSignal): Promise<{ stack: StackFile; stop: () => Promise<void> }> {
  try {
    console.log(`starting the stack (data in ${dataDir})`);
    const { stack, stop } = await bootStack({ dataDir, settlers: true, signal });
    return {
      stack,
      stop: async () => {
        console.log('stopping the stack; `npm run dev` keeps one running on the same data');
        await stop();
      },
    };
  } catch (error) {
    if (!(error instanceof AlreadyRunning)) throw error;
  }
  console.log('using the stack that is running already');
  const file = devPaths(dataDir).stackFile;
  await until(() => readJson<StackFile>(file) !== null, otherStartMs, 500);
  const stack = readJson<StackFile>(file);
  if (!stack) throw new Error('the running stack did not become ready: check its terminal, or use `npm run stop`');
  return { stack, stop: () => Promise.resolve() };
}

function consoleOutput(): ScenarioOutput {
  let number = 0;
  return {
    step: (title) => console.log(`\n${(number += 1)}. ${title}`),
    print: (line) => console.log(`   ${line}`),
  };
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(`\nthe demo failed: ${error instanceof Error ? error.message : String(error)}`);
    process.exit(1);
  },
);
