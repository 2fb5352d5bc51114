import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import path from 'node:path';

/** A program to run. */
export interface Command {
  command: string;
  args: string[];
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  /** User to run as; only possible as root. */
  uid?: number;
  gid?: number;
}

const logRotationBytes = 20 * 1024 * 1024;

/**
 * Starts a program in its own process group, so that Ctrl-C in the terminal reaches only the supervisor, which then stops everything in
 * order. Output goes directly to the file, so that it is complete even if the supervisor crashes.
 */
export function spawnLogged({ command, args, env, cwd, uid, gid }: Command, logFile: string): ChildProcess {
  mkdirSync(path.dirname(logFile), { recursive: true });
  if (existsSync(logFile) && statSync(logFile).size > logRotationBytes) renameSync(logFile, `${logFile}.1`);
  const log = openSync(logFile, 'a');
  try {
    return spawn(command, args, { env, cwd, uid, gid, detached: true, stdio: ['ignore', log, log] });
  } finally {
    closeSync(log);
  }
}

const backgroundNice = 10;

/**
 * Gives a process the processor after others. Linux shares it first between sessions, each with a nice value of its own (sched(7), "The
 * autogroup feature"); a process's nice value counts within its session, or alone where that feature is off.
 */
export function lowerPriority(pid: number): void {
  for (const lower of [
    () => setPriority(pid, backgroundNice),
    () => writeFileSync(`/proc/${pid}/autogroup`, String(backgroundNice)),
  ]) {
    try {
      lower();
    } catch {
      // not supported here, or the process has ended: it runs like the others
    }
  }
}

/** The last lines of a log, for error messages. */
export function logTail(logFile: string, lines = 8): string {
  if (!existsSync(logFile)) return '';
  return readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-lines).join('\n');
}

/**
 * Distinguishes a process from a later one with the same pid: boot id and start time. Null when there is no such process or it is a
 * zombie.
 */
export function processIdentity(pid: number): string | null {
  try {
    if (process.platform !== 'linux') {
      return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || null;
    }
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // fields after the name, which may itself contain spaces and parentheses: state is the first, start time the 20th
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return null;
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot}:${fields[19]}`;
  } catch {
    return null;
  }
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Polls until `probe` returns true; returns false after the time-out. A probe that throws counts as false. */
export async function until(probe: () => Promise<boolean> | boolean, timeoutMs: number, intervalMs = 100): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    try {
      if (await probe()) return true;
    } catch {
      // not yet
    }
    if (Date.now() >= deadline) return false;
    await sleep(intervalMs);
  }
}

/** Signals a process if its identity is the recorded one. */
function signalIf(pid: number, identity: string, signal: NodeJS.Signals): void {
  if (processIdentity(pid) !== identity) return;
  try {
    process.kill(pid, signal);
  } catch {
    // it has ended in the meantime, or belongs to another user
  }
}

/** Ends a recorded process with a signal, after the time-out with SIGKILL. True when it has ended. */
export async function endProcess(pid: number, identity: string, signal: NodeJS.Signals, timeoutMs: number): Promise<boolean> {
  const hasEnded = () => processIdentity(pid) !== identity;
  signalIf(pid, identity, signal);
  if (await until(hasEnded, timeoutMs, 50)) return true;
  signalIf(pid, identity, 'SIGKILL');
  return until(hasEnded, 5_000, 50);
}
