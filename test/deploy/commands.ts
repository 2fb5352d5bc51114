import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { until } from '../../dev/processes';

const keptCharacters = 1_000_000;
const shownLines = 25;
const shownLength = 400;
const endTimeoutMs = 5_000;

const running = new Set<ChildProcess>();

export interface CommandOptions {
  timeoutMs: number;
  /** Gets all that the command writes. */
  logFile: string;
  cwd?: string;
  env?: NodeJS.ProcessEnv;
}

/** A command that failed, with its last lines. */
export class CommandFailed extends Error {
  constructor(command: readonly string[], reason: string, output: string) {
    const lines = output.trimEnd().split('\n').slice(-shownLines);
    super([`${command.join(' ')}: ${reason}`, ...lines.map((line) => `  | ${line.slice(0, shownLength)}`)].join('\n'));
  }
}

/** Runs a command to its end. @returns what it wrote to its standard output, the last million characters @throws CommandFailed */
export function run(command: readonly string[], { timeoutMs, logFile, cwd, env }: CommandOptions): Promise<string> {
  const [program = '', ...args] = command;
  return new Promise((resolve, reject) => {
    // a process group of its own, which the time limit ends as a whole
    const child = spawn(program, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    running.add(child);
    let stdout = '';
    let output = '';
    let isLate = false;
    const keep = (text: string, chunk: Buffer): string => (text + chunk.toString()).slice(-keptCharacters);
    child.stdout.on('data', (chunk: Buffer) => {
      stdout = keep(stdout, chunk);
      output = keep(output, chunk);
      appendFileSync(logFile, chunk);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      output = keep(output, chunk);
      appendFileSync(logFile, chunk);
    });
    const timer = setTimeout(() => {
      isLate = true;
      signalGroup(child, 'SIGKILL');
    }, timeoutMs);
    child.once('error', (error) => {
      running.delete(child);
      clearTimeout(timer);
      reject(new CommandFailed(command, error.message, output));
    });
    child.once('close', (code, signal) => {
      running.delete(child);
      clearTimeout(timer);
      if (code === 0) resolve(stdout);
      else if (isLate) reject(new CommandFailed(command, `not finished after ${timeoutMs / 1000} s`, output));
      else reject(new CommandFailed(command, signal ? `ended by ${signal}` : `exit code ${code}`, output));
    });
  });
}

/** Ends the commands that run now, with all that they have started. */
export async function endCommands(): Promise<void> {
  const children = [...running];
  for (const child of children) signalGroup(child, 'SIGTERM');
  await until(() => children.every((child) => !running.has(child)), endTimeoutMs);
  for (const child of children) if (running.has(child)) signalGroup(child, 'SIGKILL');
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // it has ended
  }
}
