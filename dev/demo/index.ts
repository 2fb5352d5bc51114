import { defaultDataDir, devPaths } from '../paths';
import { readJson } from '../files';
import { until } from '../processes';
import { AlreadyRunning, bootStack } from '../stack';
import type { StackFile } from '../stack-file';
import { type Narrator, tellStory } from './scenario';

/** A stack that another terminal is just starting may take this long. */
const otherStartMs = 120_000;

/**
 * `npm run demo`: boots the stack if none is running, does the gateway's main job on it, and leaves running only what was
 * running before.
 */
async function main(): Promise<void> {
  const dataDir = defaultDataDir();
  const told = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => told.abort(new Error(`stopped by ${signal}`)));
  const aborted = new Promise<never>((_, reject) =>
    told.signal.addEventListener('abort', () => reject(told.signal.reason as Error)),
  );
  aborted.catch(() => undefined);

  const { stack, stop } = await findOrBoot(dataDir, told.signal);
  try {
    await Promise.race([tellStory(stack, narrator()), aborted]);
    console.log('\nDone: everything above went through the REST API, Temporal, three signing nodes and a real chain node.');
  } finally {
    await stop();
  }
}

async function findOrBoot(dataDir: string, signal: AbortSignal): Promise<{ stack: StackFile; stop: () => Promise<void> }> {
  try {
    console.log(`booting the stack (data in ${dataDir})`);
    const { stack, stop } = await bootStack({ dataDir, signal });
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
  if (!stack) throw new Error('the stack that is running did not get ready: look at its terminal, or `npm run stop`');
  return { stack, stop: () => Promise.resolve() };
}

function narrator(): Narrator {
  let number = 0;
  return {
    step: (title) => console.log(`\n${(number += 1)}. ${title}`),
    say: (line) => console.log(`   ${line}`),
  };
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(`\nthe demo failed: ${error instanceof Error ? error.message : String(error)}`);
    process.exit(1);
  },
);
