import { existsSync, readdirSync } from 'node:fs';
import type { Buildah } from './buildah';
import { run } from './commands';

const timeoutMs = 20_000;

/** Of namespaces and containers, before the name of a service. */
export const prefixOf = (pid: number): string => `gwdt${pid}`;

/** The process whose run has made it, or null for what is not of this test. */
const makerOf = (name: string): number | null => Number(/^gwdt(\d+)-/.exec(name)?.[1] ?? '') || null;

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Of `names`, those that runs have left whose process is dead. */
export const leftBehind = (names: readonly string[], isRunning: (pid: number) => boolean = isAlive): string[] =>
  names.filter((name) => {
    const maker = makerOf(name);
    return maker !== null && !isRunning(maker);
  });

/** Ends and removes what runs have left that were killed: what runs in their network namespaces, these, and their containers. */
export async function removeLeftovers(buildah: Buildah): Promise<void> {
  const { logFile } = buildah;
  for (const namespace of leftBehind(existsSync('/run/netns') ? readdirSync('/run/netns') : [])) {
    const pids = await run(['ip', 'netns', 'pids', namespace], { timeoutMs, logFile });
    for (const pid of pids.split('\n').filter(Boolean)) kill(Number(pid));
    await run(['ip', 'netns', 'del', namespace], { timeoutMs, logFile });
  }
  const containers = await buildah.run(['containers', '--noheading', '--format', '{{.ContainerName}}']);
  for (const container of leftBehind(containers.split('\n'))) await buildah.run(['rm', container]);
}

/** Also a process that has ended meanwhile. */
export function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it has ended
  }
}
