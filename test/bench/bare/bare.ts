import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { lowerPriority } from '../../../dev/processes';
import { stack } from '../../stack/client';

export interface BareRun {
  seconds: number;
  /** From start to end of each. */
  ms: number[];
}

export interface Bare {
  pid: number;
  run(load: { count: number; inFlight: number }): Promise<BareRun>;
  close(): void;
}

/** Bare workflows (workflow.ts) on the stack's Temporal, with the priority that the stack gives to its worker. */
export function startBare(): Bare {
  const { address, namespace } = stack().temporal;
  const child = spawn(process.execPath, [path.join(__dirname, 'serve.mjs'), address, namespace], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const pid = child.pid as number;
  lowerPriority(pid);
  const lines = createInterface(child.stdout);
  // a busy Temporal client writes warnings in between
  lines.on('line', (line) => void (line.startsWith('{') && lines.emit('answer', line)));
  return {
    pid,
    run: async (load) => {
      const answered = once(lines, 'answer', { signal: AbortSignal.timeout(300_000) });
      child.stdin.write(`${JSON.stringify(load)}\n`);
      const [line] = (await answered) as [string];
      return JSON.parse(line) as BareRun;
    },
    close: () => void child.kill(),
  };
}
