import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { exitCodes, fail } from './failure';
import { replay } from './replay';
import { describeDivergence, replays, timeline } from './report';
import { loadHistory } from './source';

/** npm run replay -- <tx-id | workflow-id | file> [--run <run-id>] [--debug] */

const usage = 'usage: npm run replay -- <tx-id | workflow-id | file> [--run <run-id>] [--debug]';

const recipe = `A debugger on the replay:
  1. Attach one to the address below: chrome://inspect in Chrome, or "Attach to Node Process" in Visual Studio Code.
     The program waits for it, and stops at its first line.
  2. Open a file of workflows/ (transfer/index.ts is where a transfer begins), set a breakpoint, and let the program go on.
     The breakpoint is hit once the workflow has been bundled. Workflow code runs in this thread, without a time-out
     (debugMode of the SDK); each step of a transfer continues with the answer that the history has.
  3. Nothing is connected to and nothing is signed or sent: activities do not run in a replay.
`;

/** The same once more, in a process that waits for a debugger on 127.0.0.1. */
function runInDebugger(): number {
  process.stderr.write(recipe);
  const args = ['--enable-source-maps', '--inspect-brk=127.0.0.1', __filename, ...process.argv.slice(2)];
  const env = { ...process.env, TEMPORAL_DEBUG: '1' };
  return spawnSync(process.execPath, args, { stdio: 'inherit', env }).status ?? exitCodes.usage;
}

async function main(): Promise<number> {
  const { source, run, debug } = readArguments();
  if (source === undefined) {
    console.error(usage);
    return exitCodes.usage;
  }
  if (debug && process.env.TEMPORAL_DEBUG === undefined) return runInDebugger();
  const history = await loadHistory(source, run);
  for (const line of timeline(history)) console.log(line);
  // the report says what the SDK would log
  const logging = { filter: 'ERROR', forward: {} };
  Runtime.install({ logger: new DefaultLogger('ERROR', () => undefined), telemetryOptions: { logging } });
  const divergence = await replay(history, { debugMode: debug });
  const verdict = divergence ? describeDivergence(divergence) : [replays];
  console.log(`\n${verdict.join('\n')}`);
  return divergence ? exitCodes.diverges : exitCodes.replays;
}

function readArguments(): { source?: string; run?: string; debug: boolean } {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { run: { type: 'string' }, debug: { type: 'boolean', default: false } },
    });
    const [source, ...more] = positionals;
    return { ...(source !== undefined && more.length === 0 && { source }), ...values };
  } catch {
    return { debug: false };
  }
}

main()
  .then((code) => {
    process.exitCode = code;
  })
  .catch(fail);
