import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../../dev/paths';
import { freePort } from '../../dev/ports';
import { environmentOf, ownPage } from '../adversary/processes';
import { waitFor } from '../stack/client';
import { pids } from '../stack/pause';

/** A second process of a part beside that of the stack: the same program with the same environment, but for its own listeners. */
export class Twin {
  /** Of the process now and of those that were killed. */
  readonly pids: number[] = [];
  private child: ChildProcess | undefined;
  private env: NodeJS.ProcessEnv = {};
  private command: string[] = [];
  private cwd = '';

  /** `env`: other variables than the first one's. `dist`: another folder with the compiled programs than the project's. */
  constructor(
    private readonly part: 'api' | 'worker' | 'authoriser',
    private readonly changed: { env?: NodeJS.ProcessEnv; dist?: string } = {},
  ) {}

  /** Of a second API. */
  get baseUrl(): string {
    return `http://127.0.0.1:${this.env.API_PORT}/api/v1`;
  }

  /** Resolves when it is ready; with the same ports as before, if it has run before. */
  async start(): Promise<void> {
    if (this.command.length === 0) await this.copy();
    const [command = '', ...args] = this.command;
    this.child = spawn(command, args, { env: this.env, cwd: this.cwd, stdio: 'ignore' });
    this.pids.push(this.child.pid ?? 0);
    await waitFor(() => this.isReady(), { timeoutMs: 180_000 });
  }

  /** Whether all its checks pass. */
  isReady(): Promise<boolean> {
    return ownPage(this.env, '/health/ready').then(
      async (answer) => answer.ok && !(await answer.text()).includes(':false'),
      () => false,
    );
  }

  kill(): Promise<number | null> {
    return this.end('SIGKILL');
  }

  /** As a supervisor does before a restart; resolves with its exit code, null if another signal ended it. */
  stop(): Promise<number | null> {
    return this.end('SIGTERM');
  }

  private async end(signal: NodeJS.Signals): Promise<number | null> {
    if (!this.child || this.child.exitCode !== null || this.child.signalCode !== null) return null;
    const exited = once(this.child, 'exit') as Promise<[number | null]>;
    this.child.kill(signal);
    const [code] = await exited;
    return code;
  }

  private async copy(): Promise<void> {
    const [pid = 0] = pids(this.part);
    const { env, dist } = this.changed;
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').filter(Boolean);
    const compiled = path.join(projectRoot, 'dist');
    this.command = dist === undefined ? command : command.map((part) => part.replace(`${compiled}/`, `${dist}/`));
    this.cwd = readlinkSync(`/proc/${pid}/cwd`);
    const ports = {
      METRICS_PORT: String(await freePort()),
      ...(this.part === 'api' && { API_PORT: String(await freePort()) }),
    };
    this.env = { ...environmentOf(pid), ...ports, ...env };
  }
}
