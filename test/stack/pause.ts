import { readFileSync } from 'node:fs';
import { stack } from './client';

const paused = new Set<number>();

export function pids(part: string): number[] {
  const found = stack().processes[part];
  if (!found?.length) throw new Error(`the stack has no process ${part}`);
  return found;
}

/** SIGSTOP: the process exists and does not respond. For Postgres also its child processes. */
export function pause(part: string, count = Infinity): void {
  for (const pid of pids(part)
    .slice(0, count)
    .flatMap((parent) => [parent, ...(part === 'postgres' ? childrenOf(parent) : [])]))
    pauseProcess(pid);
}

export function pauseProcess(pid: number): void {
  process.kill(pid, 'SIGSTOP');
  paused.add(pid);
}

export function resumeAll(): void {
  for (const pid of paused) {
    try {
      process.kill(pid, 'SIGCONT');
    } catch (error) {
      // ended meanwhile
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
  paused.clear();
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(/\s+/).filter(Boolean).map(Number);
}
