import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { devPaths } from '../../dev/paths';
import { emptyData } from '../../dev/stack';
import { endLeftovers, release, runningSupervisor } from '../../dev/stack-file';

const keptLogs = 3;

/** Removes the data of a stopped test stack; its logs are kept for a while, to examine failures. */
export function keepOnlyLogs(dataDir: string): void {
  emptyData(dataDir);
  for (const entry of readdirSync(dataDir)) {
    if (entry !== 'logs') rmSync(path.join(dataDir, entry), { recursive: true, force: true });
  }
}

/** Cleans up after test runs that were killed, and removes all but the newest logs. */
export async function sweepOldRuns(parent: string): Promise<void> {
  if (!existsSync(parent)) return;
  const runs = readdirSync(parent)
    .filter((name) => /^test-\d+$/.test(name))
    .map((name) => path.join(parent, name))
    .filter((dataDir) => runningSupervisor(devPaths(dataDir)) === null)
    .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
  for (const [age, dataDir] of runs.entries()) {
    await endLeftovers(devPaths(dataDir));
    release(devPaths(dataDir));
    keepOnlyLogs(dataDir);
    if (age >= keptLogs) rmSync(dataDir, { recursive: true, force: true });
  }
}
