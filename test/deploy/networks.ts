import path from 'node:path';
import { readdirSync } from 'node:fs';
import type { Service } from '../unit/deploy/compose-file';
import { run } from './commands';

const timeoutMs = 20_000;

/**
 * The networks of the compose file, between network namespaces: each service has its own, so that ports, names and 127.0.0.1 are as in
 * its container. No network has a way out, and nothing listens on the machine itself.
 */
export class Networks {
  private readonly created: string[] = [];

  constructor(
    /** Begins the names of the namespaces. */
    private readonly prefix: string,
    private readonly names: readonly string[],
    private readonly services: readonly (readonly [string, Service])[],
    private readonly logFile: string,
  ) {}

  async create(): Promise<void> {
    await this.addNamespace(this.hub);
    for (const index of this.names.keys()) await this.ip(this.hub, 'link', 'add', bridge(index), 'up', 'type', 'bridge');
    for (const [name, service] of this.services) {
      await this.addNamespace(this.namespaceOf(name));
      for (const network of service.networks ?? []) await this.connect(name, this.names.indexOf(network));
    }
  }

  /** What runs a command in the network of a service. */
  enter(service: string): string[] {
    return ['nsenter', `--net=/run/netns/${this.namespaceOf(service)}`, '--'];
  }

  /** The services that a service finds by name: those that share a network with it. */
  hosts(service: string): string {
    const own = this.services.find(([name]) => name === service)?.[1].networks ?? [];
    const lines = this.services.flatMap(([name, { networks = [] }]) => {
      const shared = networks.find((network) => own.includes(network));
      return shared === undefined ? [] : [`${this.address(name, this.names.indexOf(shared))} ${name}`];
    });
    return `127.0.0.1 localhost\n${lines.join('\n')}\n`;
  }

  /** All that runs in the network of a service. */
  async pids(service: string): Promise<number[]> {
    const output = await run(['ip', 'netns', 'pids', this.namespaceOf(service)], { timeoutMs, logFile: this.logFile });
    return output.split('\n').filter(Boolean).map(Number);
  }

  async remove(): Promise<void> {
    if (this.created.length === 0) return;
    const there = new Set(readdirSync('/run/netns'));
    for (const name of this.created.splice(0))
      if (there.has(path.basename(name))) await run(['ip', 'netns', 'del', name], { timeoutMs, logFile: this.logFile });
  }

  private get hub(): string {
    return `${this.prefix}-hub`;
  }

  private namespaceOf(service: string): string {
    return `${this.prefix}-${service}`;
  }

  private async connect(service: string, network: number): Promise<void> {
    const namespace = this.namespaceOf(service);
    const device = `net${network}`;
    const port = `p${network}x${this.indexOf(service)}`;
    await this.ip(namespace, 'link', 'add', device, 'type', 'veth', 'peer', 'name', port, 'netns', this.hub);
    await this.ip(namespace, 'addr', 'add', `${this.address(service, network)}/24`, 'dev', device);
    await this.ip(namespace, 'link', 'set', device, 'up');
    await this.ip(this.hub, 'link', 'set', port, 'master', bridge(network), 'up');
  }

  private address(service: string, network: number): string {
    return `10.77.${network}.${this.indexOf(service) + 10}`;
  }

  private indexOf(service: string): number {
    return this.services.findIndex(([name]) => name === service);
  }

  private async addNamespace(name: string): Promise<void> {
    await run(['ip', 'netns', 'add', name], { timeoutMs, logFile: this.logFile });
    this.created.push(name);
    await this.ip(name, 'link', 'set', 'lo', 'up');
  }

  private ip(namespace: string, ...args: string[]): Promise<string> {
    return run(['ip', '-n', namespace, ...args], { timeoutMs, logFile: this.logFile });
  }
}

const bridge = (network: number): string => `br${network}`;
