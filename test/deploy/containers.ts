import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, chmodSync, chownSync, existsSync, openSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { logTail, until } from '../../dev/processes';
import { mounts, type Service } from '../unit/deploy/compose-file';
import type { Buildah } from './buildah';
import { CommandFailed, run } from './commands';
import { kill } from './leftovers';
import type { Networks } from './networks';
import { mainProcesses } from './processes';

/** Of root in a container, unless they are taken away (containers.conf(5), default_capabilities). */
const defaultCapabilities =
  'AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE NET_RAW SETFCAP SETGID SETPCAP SETUID SYS_CHROOT';
const jobTimeoutMs = 3 * 60_000;
/** Those of others, which have nothing to finish, end by the signal: 128 + 15, and the user interface of Temporal with 1. All ours end with 0. */
const endCodes = (name: string): number[] => {
  if (name === 'temporal-ui') return [1, 143];
  return name === 'temporal' || name.startsWith('chain-') ? [0, 143] : [0];
};

interface Running {
  child: ChildProcess;
  /** Exit code, or a sentence; undefined while it runs. */
  ended: Promise<number | string>;
}

/** What a docker-compose.override.yml adds to services: variables, and files of its folder (`./<file>:<path>:ro`). */
export interface Overrides {
  folder: string;
  services: Record<string, Pick<Service, 'environment' | 'volumes'>>;
}

/** Containers of the services of the compose file, each in its own network namespace. */
export class Containers {
  private readonly created = new Set<string>();
  private isClosed = false;
  private readonly running = new Map<string, Running>();
  private overrides: Overrides = { folder: '', services: {} };

  constructor(
    private readonly services: Readonly<Record<string, Service>>,
    private readonly parts: { buildah: Buildah; networks: Networks; folder: string; prefix: string },
  ) {}

  /** For what is started from now on. */
  override(overrides: Overrides): void {
    for (const [name, added] of Object.entries(overrides.services)) {
      this.service(name);
      const others = Object.keys(added).filter((key) => !['environment', 'volumes'].includes(key));
      if (others.length > 0) throw new Error(`${others.join(' and ')} in an override is not known here`);
    }
    this.overrides = overrides;
  }

  /** Runs a service to its end, with other arguments than its own if there are some. @returns its standard output */
  async runToEnd(name: string, args?: string[]): Promise<string> {
    return run(await this.commandLine(name, { words: args }), { timeoutMs: jobTimeoutMs, logFile: this.logFile(name) });
  }

  /**
   * The command that runs a service, or other words in its container.
   * @param entrypoint in place of that of the service or its image; null: as it is
   * @param binds folders of the machine, `<folder>:<path>`
   */
  async commandLine(
    name: string,
    { words, entrypoint, binds }: { words?: string[] | undefined; entrypoint?: string[] | null; binds?: string[] } = {},
  ): Promise<string[]> {
    return [...(await this.prefixOf(name, binds)), ...(await this.commandOf(name, words, entrypoint ?? null))];
  }

  /** Starts a service, and waits until its health check says so, for as long as the compose file allows it. */
  async startHealthy(name: string): Promise<void> {
    const { command, child, ended } = await this.start(name);
    const { healthcheck } = this.service(name);
    if (!healthcheck) throw new Error(`${name} has no health check`);
    const seconds = (text: string): number => Number(/^(\d+)s$/.exec(text)?.[1]);
    const timeoutMs = (seconds(healthcheck.start_period) + healthcheck.retries * seconds(healthcheck.interval)) * 1000;
    const isOver = () => child.exitCode !== null || child.signalCode !== null;
    let isHealthy = false;
    await until(async () => isOver() || (isHealthy = await this.isHealthy(name)), timeoutMs, 500);
    if (isOver() || !isHealthy)
      throw new CommandFailed(
        command,
        isOver() ? `ended (${await ended})` : 'not healthy in time',
        logTail(this.logFile(name), 25),
      );
  }

  /** Starts a service, and does not wait for it. */
  async start(name: string): Promise<Running & { command: string[] }> {
    const command = await this.commandLine(name);
    const [program = '', ...args] = command;
    const log = openSync(this.logFile(name), 'a');
    const child = spawn(program, args, { detached: true, stdio: ['ignore', log, log] });
    closeSync(log);
    const ended = new Promise<number | string>((resolve) => {
      child.once('error', (error) => resolve(error.message));
      child.once('exit', (code, signal) => resolve(code ?? `ended by ${signal}`));
    });
    this.running.set(name, { child, ended });
    return { command, child, ended };
  }

  async isHealthy(name: string): Promise<boolean> {
    const [, ...test] = this.service(name).healthcheck?.test ?? [];
    const command = [...(await this.prefixOf(name)), ...test];
    return run(command, { timeoutMs: 10_000, logFile: `${this.logFile(name)}.health` }).then(
      () => true,
      () => false,
    );
  }

  /** A shell of one of the stand-ins in the network of a service. */
  async shell(name: string, image: string, script: string): Promise<string> {
    const { buildah, networks } = this.parts;
    const container = await this.create(`${name}-shell`, image);
    const command = buildah.command(
      'run',
      '--isolation',
      'chroot',
      '--no-hosts',
      container,
      '--',
      'bash',
      '-euo',
      'pipefail',
      '-c',
      script,
    );
    return run([...networks.enter(name), ...command], { timeoutMs: jobTimeoutMs, logFile: this.logFile(`${name}-shell`) });
  }

  /**
   * Stops a service as the engine does: a signal, and after `stop_grace_period` (10 s by default) the end.
   * @returns exit code, or a sentence
   */
  async stop(name: string): Promise<number | string> {
    const running = this.running.get(name);
    if (!running) return 'does not run';
    const { stop_grace_period: period = '10s' } = this.service(name);
    for (const pid of mainProcesses(await this.parts.networks.pids(name))) process.kill(pid, 'SIGTERM');
    const isOver = () => running.child.exitCode !== null || running.child.signalCode !== null;
    if (!(await until(isOver, Number.parseInt(period, 10) * 1000))) return `still runs after ${period}`;
    this.running.delete(name);
    return running.ended;
  }

  /** @throws Error when it does not stop in time, or ends with another exit code than it should */
  async stopWell(name: string): Promise<void> {
    const code = await this.stop(name);
    if (typeof code === 'string' || !endCodes(name).includes(code)) throw new Error(`${name} ended with ${code}`);
  }

  isRunning(name: string): boolean {
    return this.running.has(name);
  }

  /** Files that a service has written outside of its volumes: with a read-only file system it could not have. */
  async writtenFiles(name: string): Promise<string[]> {
    const folder = path.resolve(await this.parts.buildah.run(['mount', this.containerName(name)]), '../diff');
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && statSync(path.join(entry.parentPath, entry.name)).size > 0)
      .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
      .filter((file) => file !== 'run/.containerenv' && file !== 'etc/resolv.conf');
  }

  hasRun(name: string): boolean {
    return this.created.has(this.containerName(name));
  }

  /** Ends all that runs, and removes the containers. */
  async removeAll(): Promise<void> {
    this.isClosed = true;
    for (const name of Object.keys(this.services)) {
      const left = await this.parts.networks.pids(name).catch(() => []);
      for (const pid of mainProcesses(left)) kill(pid);
      const running = this.running.get(name);
      if (running) await until(() => running.child.exitCode !== null || running.child.signalCode !== null, 10_000);
      for (const pid of await this.parts.networks.pids(name).catch(() => [])) kill(pid);
    }
    for (const container of this.created)
      await this.parts.buildah.run(['rm', container]).catch((error: unknown) => console.error(error));
  }

  private service(name: string): Service {
    const service = this.services[name];
    if (!service) throw new Error(`docker-compose.yml has no service ${name}`);
    return service;
  }

  private containerName(name: string): string {
    return `${this.parts.prefix}-${name}`;
  }

  private logFile(name: string): string {
    return path.join(this.parts.folder, 'logs', `${name}.log`);
  }

  private async create(name: string, image: string): Promise<string> {
    if (this.isClosed) throw new Error(`${name} is not started any more`);
    const container = this.containerName(name);
    if (!this.created.has(container)) {
      await this.parts.buildah.run(['from', '--pull-never', '--name', container, image]);
      this.created.add(container);
    }
    return container;
  }

  /** All before the words of the command: the same for the service and for its health check. */
  private async prefixOf(name: string, binds: readonly string[] = []): Promise<string[]> {
    const service = this.service(name);
    const { buildah, networks, folder } = this.parts;
    const container = await this.create(name, service.image);
    const hosts = path.join(folder, `${name}.hosts`);
    writeFileSync(hosts, networks.hosts(name));
    const { folder: besideFile, services: added } = this.overrides;
    const files = (added[name]?.volumes ?? []).map((text) => path.resolve(besideFile, text));
    const volumes = [`${hosts}:/etc/hosts:ro`, ...binds, ...files];
    for (const { volume, at, isReadOnly } of mounts(service))
      volumes.push(`${await this.volume(container, volume, at)}:${at}${isReadOnly ? ':ro' : ''}`);
    for (const at of service.tmpfs) volumes.push(`${this.temporaryFolder(name, at)}:${at}`);
    const dropped = defaultCapabilities.split(' ').filter((it) => !service.cap_add?.includes(it));
    const options = [
      ...['--isolation', 'chroot', '--no-hosts', '--user', service.user],
      ...dropped.flatMap((capability) => ['--cap-drop', `CAP_${capability}`]),
      ...Object.entries({ ...service.environment, ...added[name]?.environment }).flatMap(([key, value]) => [
        '--env',
        `${key}=${value}`,
      ]),
      ...volumes.flatMap((volume) => ['--volume', volume]),
    ];
    return [...networks.enter(name), ...buildah.command('run', ...options, container, '--')];
  }

  private async commandOf(name: string, args: string[] | undefined, entrypoint: string[] | null): Promise<string[]> {
    const service = this.service(name);
    if (entrypoint) return [...entrypoint, ...(args ?? [])];
    if (service.entrypoint) return [...service.entrypoint, ...(args ?? service.command ?? [])];
    const ofImage = await this.parts.buildah.startOf(service.image);
    return [...ofImage.entrypoint, ...(args ?? service.command ?? ofImage.command)];
  }

  /** A new volume belongs to whom the folder in the image belongs to, as with Docker. */
  private async volume(container: string, volume: string, at: string): Promise<string> {
    if (path.isAbsolute(volume)) {
      if (!existsSync(volume)) throw new Error(`bind source path does not exist: ${volume}`);
      return volume;
    }
    const folder = path.join(this.parts.folder, 'volumes', volume);
    if (!existsSync(folder)) {
      mkdirSync(folder, { recursive: true });
      const inImage = path.join(await this.parts.buildah.run(['mount', container]), at);
      const found = statSync(inImage, { throwIfNoEntry: false });
      chownSync(folder, found?.uid ?? 0, found?.gid ?? 0);
      chmodSync(folder, found ? found.mode & 0o7777 : 0o755);
    }
    return folder;
  }

  private temporaryFolder(name: string, at: string): string {
    const folder = path.join(this.parts.folder, 'tmpfs', name, at);
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o1777);
    return folder;
  }
}
