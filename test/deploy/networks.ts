import path from 'node:path';
import { readdirSync } from 'node:fs';
import type { Service } from '../unit/deploy/compose-file';
import { run } from './commands';

const timeoutMs = 20_000;

/** Where several machines are: what this one publishes at its address is reached from the others. */
export interface MachineNetwork {
  /** Namespace of the private network between the machines (`createPrivateNetwork`). */
  between: string;
  /** Of this machine there, of the network 10.0.0.0/24. */
  address: string;
}

const bridgeBetween = 'machines';
/** Of the machine, in the network between them. */
const outside = 'outside';

/** The private network between machines. @returns what removes it */
export async function createPrivateNetwork(name: string, logFile: string): Promise<() => Promise<void>> {
  const ip = (...args: string[]) => run(['ip', ...args], { timeoutMs, logFile });
  await ip('netns', 'add', name);
  await ip('-n', name, 'link', 'add', bridgeBetween, 'up', 'type', 'bridge');
  return async () => void (await ip('netns', 'del', name));
}

/**
 * The networks of the compose file, between network namespaces: each service has its own, so that ports, names and 127.0.0.1 are as in
 * its container. No network has a way out but to other machines of the test, and nothing listens on the machine itself.
 */
export class Networks {
  private readonly created: string[] = [];

  constructor(
    /** Begins the names of the namespaces. */
    private readonly prefix: string,
    private readonly names: readonly string[],
    private readonly services: readonly (readonly [string, Service])[],
    private readonly logFile: string,
    /** Null: no network has a way out. */
    private readonly machine: (MachineNetwork & { internal: readonly string[] }) | null = null,
  ) {}

  async create(): Promise<void> {
    await this.addNamespace(this.hub);
    for (const index of this.names.keys()) await this.ip(this.hub, 'link', 'add', bridge(index), 'up', 'type', 'bridge');
    for (const [name, service] of this.services) {
      await this.addNamespace(this.namespaceOf(name));
      for (const network of service.networks ?? []) await this.connect(name, this.names.indexOf(network));
    }
    if (this.machine) await this.publish(this.machine);
  }

  /** As the engine does: each port at the address that the compose file names, and a way out of the networks that are not internal. */
  private async publish({ between, address, internal }: NonNullable<typeof this.machine>): Promise<void> {
    const inHub = (...command: string[]) =>
      run(['nsenter', `--net=/run/netns/${this.hub}`, '--', ...command], { timeoutMs, logFile: this.logFile });
    const port = `m${address.split('.').at(-1)}`;
    await this.ip(this.hub, 'link', 'add', outside, 'type', 'veth', 'peer', 'name', port, 'netns', between);
    await this.ip(between, 'link', 'set', port, 'master', bridgeBetween, 'up');
    await this.ip(this.hub, 'addr', 'add', `${address}/24`, 'dev', outside);
    await this.ip(this.hub, 'link', 'set', outside, 'up');
    await inHub('sh', '-c', 'echo 1 > /proc/sys/net/ipv4/ip_forward');
    await inHub('iptables', '-t', 'nat', '-A', 'POSTROUTING', '-o', outside, '-j', 'MASQUERADE');
    const isOpen = (network: string): boolean => !internal.includes(network);
    for (const [index, network] of this.names.entries())
      if (isOpen(network)) await this.ip(this.hub, 'addr', 'add', `10.77.${index}.1/24`, 'dev', bridge(index));
    for (const [name, { networks = [], ports = [] }] of this.services) {
      const open = networks.find(isOpen);
      if (open === undefined) continue;
      const index = this.names.indexOf(open);
      await this.ip(this.namespaceOf(name), 'route', 'add', 'default', 'via', `10.77.${index}.1`);
      for (const [host, published = '', target = ''] of ports.map((it) => it.split(':'))) {
        if (host !== address) continue;
        const to = `${this.address(name, index)}:${target}`;
        const rule = ['-d', address, '-p', 'tcp', '--dport', published, '-j', 'DNAT', '--to-destination', to];
        await inHub('iptables', '-t', 'nat', '-A', 'PREROUTING', ...rule);
      }
    }
  }

  /** What runs a command in the network of a service. */
  enter(service: string): string[] {
    return ['nsenter', `--net=/run/netns/${this.namespaceOf(service)}`, '--'];
  }

  /** The services that a service finds by name: those that share a network with it. */
  hosts(service: string): string {
    const { networks: own = [], extra_hosts: extra = [] } = this.services.find(([name]) => name === service)?.[1] ?? {};
    const lines = this.services.flatMap(([name, { networks = [] }]) => {
      const shared = networks.find((network) => own.includes(network));
      return shared === undefined ? [] : [`${this.address(name, this.names.indexOf(shared))} ${name}`];
    });
    const others = extra.map((text) => text.split('=')).map(([name, address]) => `${address} ${name}`);
    return ['127.0.0.1 localhost', ...lines, ...others, ''].join('\n');
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
