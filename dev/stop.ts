import { defaultDataDir, devPaths } from './paths';
import { readJson } from './files';
import { endProcess, processIdentity } from './processes';
import { endLeftovers, release, runningSupervisor } from './stack-file';

const longestStopMs = 60_000;

/** `npm run stop`: stops a running stack in order, and ends the remaining processes of one that was killed. */
async function main(): Promise<void> {
  const paths = devPaths(defaultDataDir());
  const pid = runningSupervisor(paths);
  if (pid !== null) {
    const identity = processIdentity(pid) ?? readJson<{ identity: string }>(paths.supervisorFile)?.identity ?? '';
    console.log(`stopping the stack (pid ${pid})`);
    await endProcess(pid, identity, 'SIGTERM', longestStopMs);
  }
  const leftovers = await endLeftovers(paths);
  release(paths);
  if (leftovers.length > 0) console.log(`ended remaining processes: ${leftovers.join(', ')}`);
  console.log(pid === null && leftovers.length === 0 ? 'nothing is running' : 'stopped');
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
