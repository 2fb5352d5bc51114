import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { type Command, endProcess, logTail, lowerPriority, processIdentity, sleep, spawnLogged, until } from './processes';
import { Reaper } from './reaper';

export interface ProcessSpec {
  /** Unique; also the name of the log file. */
  name: string;
  /** Key in stack.json. */
  group: string;
  /** Called before every start, so that it can repair files after a kill. */
  command(): Command | Promise<Command>;
  /** One check whether the process is ready; throws or returns false if not. */
  ready(): Promise<boolean>;
  readyTimeoutMs: number;
  /** Runs after every start, when the process is ready. */
  afterStart?(): Promise<void>;
  stopSignal?: NodeJS.Signals;
  stopTimeoutMs?: number;
  /** Once ready, it gets the processor after the processes that clients wait for. */
  background?: boolean;
}

export interface RunningProcess {
  name: string;
  group: string;
  pid: number;
  identity: string;
  stopSignal: NodeJS.Signals;
}

interface Child extends RunningProcess {
  spec: ProcessSpec;
  startedAtMs: number;
  exited: Promise<string>;
}

const firstDelayMs = 200;
const longestDelayMs = 10_000;
/** After running this long, a child is restarted with the shortest delay. */
const stableAfterMs = 15_000;

export interface SupervisorOptions {
  logs: string;
  log(line: string): void;
  /** Called when the set of processes or a pid has changed. */
  changed(processes: RunningProcess[]): void;
  /** Waited for before every start of a process. */
  beforeStart?: ((name: string) => Promise<void>) | undefined;
}

/** Keeps child processes running: a process that ends for any reason is restarted. */
export class Supervisor {
  readonly reaper = new Reaper();
  private readonly children = new Map<string, Child>();
  private readonly loops: Promise<void>[] = [];
  private stopping = false;

  constructor(private readonly options: SupervisorOptions) {}

  get processes(): RunningProcess[] {
    return [...this.children.values()].map(({ name, group, pid, identity, stopSignal }) => ({
      name,
      group,
      pid,
      identity,
      stopSignal,
    }));
  }

  logFile(name: string): string {
    return path.join(this.options.logs, `${name.replace(/[^a-z0-9-]/gi, '-')}.log`);
  }

  /**
   * Starts a process, waits until it is ready and keeps it running.
   * @throws Error with the end of its log when it does not become ready.
   */
  async start(spec: ProcessSpec): Promise<void> {
    const child = await this.launch(spec);
    let end: string | undefined;
    void child.exited.then((how) => (end = how));
    const problem = await this.waitUntilReady(child, () => end);
    if (problem) {
      await this.end(child);
      throw new Error(`${spec.name} ${problem}. The end of ${this.logFile(spec.name)}:\n${logTail(this.logFile(spec.name))}`);
    }
    this.loops.push(this.keepRunning(child));
  }

  /** Ends the groups in order, the processes of a group concurrently. Names of groups may end in `*`. */
  async stop(order: string[][]): Promise<void> {
    this.stopping = true;
    for (const groups of order) {
      const matches = (child: Child) =>
        groups.some((group) => (group.endsWith('*') ? child.group.startsWith(group.slice(0, -1)) : child.group === group));
      await Promise.all([...this.children.values()].filter(matches).map((child) => this.end(child)));
    }
    await Promise.all([...this.children.values()].map((child) => this.end(child)));
    await Promise.all(this.loops);
    this.reaper.dismiss();
  }

  private async launch(spec: ProcessSpec): Promise<Child> {
    await this.options.beforeStart?.(spec.name);
    const command = await spec.command();
    if (this.stopping) throw new Error(`${spec.name} was not started: the stack is being stopped`);
    const started = spawnLogged(command, this.logFile(spec.name));
    const exited = new Promise<string>((resolve) => {
      started.once('error', (error) => resolve(`could not be started (${error.message})`));
      started.once('exit', (code, signal) => resolve(signal ? `was killed by ${signal}` : `ended with exit code ${code}`));
    });
    const { pid } = started;
    if (pid === undefined) throw new Error(`${spec.name} ${await exited}`);
    const stopSignal = spec.stopSignal ?? 'SIGTERM';
    const identity = processIdentity(pid) ?? 'gone';
    const child: Child = { spec, name: spec.name, group: spec.group, pid, identity, stopSignal, startedAtMs: Date.now(), exited };
    this.reaper.watch(pid, stopSignal);
    void exited.then(() => this.reaper.forget(pid));
    this.children.set(spec.name, child);
    this.options.changed(this.processes);
    return child;
  }

  /** A description of the problem, or null. */
  private async waitUntilReady({ spec, pid }: Child, ended: () => string | undefined): Promise<string | null> {
    let afterStartError: Error | null = null;
    let lastProblem = '';
    const isReady = async () => {
      if (ended() !== undefined || this.stopping) return true;
      return spec.ready().catch((error: Error) => {
        lastProblem = ` (${error.message})`;
        return false;
      });
    };
    if (!(await until(isReady, spec.readyTimeoutMs))) return `was not ready within ${spec.readyTimeoutMs / 1000} s${lastProblem}`;
    if (this.stopping) return 'was stopped';
    if (ended() === undefined) await spec.afterStart?.().catch((error: Error) => (afterStartError = error));
    if (ended() !== undefined) return `${ended()}`;
    if (afterStartError) return `could not be set up (${(afterStartError as Error).message})`;
    if (spec.background) lowerPriority(pid);
    return null;
  }

  private async keepRunning(first: Child): Promise<void> {
    const { spec } = first;
    let delayMs = firstDelayMs;
    let child: Child | null = first;
    for (;;) {
      const how: string = child ? await child.exited : 'could not be started';
      if (this.stopping) return;
      if (child && Date.now() - child.startedAtMs > stableAfterMs) delayMs = firstDelayMs;
      this.note(
        `${spec.name}${child ? ` (pid ${child.pid})` : ''} ${how}: starting it again${delayMs > 1000 ? ` in ${Math.round(delayMs / 1000)} s, see ${this.logFile(spec.name)}` : ''}`,
      );
      await this.pause(delayMs);
      delayMs = Math.min(delayMs * 2, longestDelayMs);
      if (this.stopping) return;
      child = await this.launch(spec).catch(() => null);
      if (child) void this.announceReady(child);
    }
  }

  private async announceReady(child: Child): Promise<void> {
    let end: string | undefined;
    void child.exited.then((how) => (end = how));
    const problem = await this.waitUntilReady(child, () => end);
    if (this.stopping || end !== undefined) return;
    this.note(
      problem
        ? `${child.name} (pid ${child.pid}) ${problem}, see ${this.logFile(child.name)}`
        : `${child.name} is back (pid ${child.pid})`,
    );
  }

  private async end(child: Child): Promise<void> {
    await endProcess(child.pid, child.identity, child.stopSignal, child.spec.stopTimeoutMs ?? 10_000);
    if (this.children.get(child.name) === child) this.children.delete(child.name);
    this.options.changed(this.processes);
  }

  /** Also where the logs are, so that the reason of a restart is known when nobody saw the terminal. */
  private note(line: string): void {
    this.options.log(line);
    appendFileSync(this.logFile('supervisor'), `${new Date().toISOString()} ${line}\n`);
  }

  private async pause(ms: number): Promise<void> {
    for (const until = Date.now() + ms; Date.now() < until && !this.stopping;) await sleep(Math.min(50, ms));
  }
}
