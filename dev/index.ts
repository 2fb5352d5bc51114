import { parseArgs } from 'node:util';
import { defaultDataDir, devPaths } from './paths';
import { readJson } from './files';
import { AlreadyRunning, bootStack, type RunningStack } from './stack';
import { runningSupervisor, type StackFile } from './stack-file';

const stoppedBySignal = 130;

/** `npm run dev`: the whole gateway on this machine, until Ctrl-C or `npm run stop`. */
async function main(): Promise<number> {
  const { values } = parseArgs({ options: { reset: { type: 'boolean', default: false } } });
  const dataDir = defaultDataDir();
  const shutdown = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => shutdown.abort(signal));

  console.log(`starting the stack; data in ${dataDir}`);
  let running: RunningStack;
  try {
    running = await bootStack({ dataDir, reset: values.reset, settlers: true, signal: shutdown.signal });
  } catch (error) {
    if (error instanceof AlreadyRunning) return describeRunning(dataDir, values.reset);
    if (shutdown.signal.aborted) {
      console.log('stopped');
      return stoppedBySignal;
    }
    console.error(`\n${error instanceof Error ? error.message : String(error)}`);
    return 1;
  }
  console.log(describe(running.stack, running.stackFile));
  await new Promise((resolve) => (shutdown.signal.aborted ? resolve(null) : shutdown.signal.addEventListener('abort', resolve)));
  console.log('\nstopping');
  await running.stop();
  console.log('stopped');
  return 0;
}

function describe({ base_url, temporal, chains }: StackFile, stackFile: string): string {
  const lines = [
    `ready: API ${base_url}`,
    `  Temporal UI    ${temporal.ui ?? temporal.address}`,
    ...Object.entries(chains).map(
      ([name, { rpc, faucet }]) => `  ${name.padEnd(14)} ${rpc}${faucet ? '' : ' (not local: no faucet)'}`,
    ),
    `  details        ${stackFile} (addresses, clients with their keys, pids)`,
    '  try            npm run demo · npm run faucet -- ethereum USDC <address> 100',
    '  Ctrl-C stops everything',
  ];
  return lines.join('\n');
}

function describeRunning(dataDir: string, reset: boolean): number {
  const paths = devPaths(dataDir);
  const stack = readJson<StackFile>(paths.stackFile);
  console.log(
    `a stack is running already (pid ${runningSupervisor(paths)})${stack ? `: ${stack.base_url}` : ', still starting'}; \`npm run stop\` stops it`,
  );
  return reset ? 1 : 0;
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
