import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { findComposeLoader } from '../../dev/compose-loader';
import { projectRoot } from '../../dev/paths';
import { nodeIndexes } from '../../src/messages/nodes';
import type { Service } from '../unit/deploy/compose-file';
import { shellBlocks } from '../unit/documents/shell-blocks';
import { type Loaded, loadCompose, type Project } from '../unit/deploy/load-compose';
import { commandsOf, forNode, inFolders } from '../unit/deploy/machines';
import { readVariables, resolveCompose } from '../unit/deploy/resolve';
import type { Buildah } from './buildah';
import { run } from './commands';
import { Containers } from './containers';
import { openDockerShell, type RunShell } from './docker';
import { lineNotRun } from './documented';
import { withoutDigests } from './images';
import { createPrivateNetwork, Networks } from './networks';
import { PaidSince } from './paid-since';
import { Payments } from './payments';
import { makeFirstTransfer } from './transfer';

const shellTimeoutMs = 2 * 60_000;
/** The code of docs/deployment.md that makes the key of backups. */
const keyOfBackups = shellBlocks('docs/deployment.md').find(({ code }) => code.includes('-keyout backup_key'))?.code ?? 'exit 1';
const chains = ['chain-ethereum', 'chain-base'];

interface Parts {
  buildah: Buildah;
  /** Gets a folder for each machine. */
  folder: string;
  logFile: string;
  prefix: string;
  /** Of try.env: local chains, on the gateway's machine. */
  trial: Readonly<Record<string, string>>;
  step: <T>(name: string, work: () => Promise<T>) => Promise<T>;
  onCleanUp: (cleanUp: () => Promise<void>) => void;
}

interface Machine {
  containers: Containers;
  /** A shell in the machine's checkout. */
  run: RunShell;
  /** Of the stand-in for Postgres. */
  shellImage: string;
  folder: string;
}

/**
 * docs/deployment.md, "On three machines and more": its code as it stands, by a shell for each machine, with deploy/*.yml as Docker Compose loads
 * them. Each machine has networks of its own, and is reached at one address, where its files publish something.
 * @throws Error unless a transfer is CONFIRMED, also while one node is stopped and after the update
 */
export async function runMachines({ buildah, folder, logFile, prefix, trial, step, onCleanUp }: Parts): Promise<void> {
  const between = `${prefix}-machines`;
  const ends: (() => Promise<unknown> | void)[] = [];
  onCleanUp(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });
  ends.push(await createPrivateNetwork(between, logFile));
  const loader = await findComposeLoader((text) => console.log(text));

  /** @param address null: of the machine where the files are made, which is on no network */
  const open = async (name: string, files: Project | null, address: string | null): Promise<Machine> => {
    const own = path.join(folder, name);
    mkdirSync(path.join(own, 'logs'), { recursive: true });
    mkdirSync(path.join(own, 'checkout'), { recursive: true });
    const services = files ? servicesOf(files) : { setup: toSetUp(trial) };
    const names = Object.keys(files?.networks ?? {});
    const internal = names.filter((network) => files?.networks[network]?.internal);
    const network = address === null ? null : { between, address, internal };
    const ofMachine = `${prefix}-${name}`;
    const networks = new Networks(ofMachine, names, Object.entries(services), logFile, network);
    const containers = new Containers(services, { buildah, networks, folder: own, prefix: ofMachine });
    ends.push(async () => {
      await containers.removeAll();
      await networks.remove();
    });
    await networks.create();
    const shell = await openDockerShell(containers, { folder: own, cwd: path.join(own, 'checkout'), logFile });
    ends.push(shell.end);
    return { containers, run: shell.run, shellImage: services.postgres?.image ?? '', folder: own };
  };

  /** Where the files come to, before the machine has any. */
  const prepare = (name: string) => {
    const cwd = path.join(folder, name, 'checkout');
    mkdirSync(cwd, { recursive: true });
    const places = { secrets: path.join(folder, name, 'secrets'), mark: path.join(folder, name, 'disk', 'mark') };
    mkdirSync(path.dirname(places.mark), { recursive: true });
    const shell = (code: string) =>
      run(['bash', '-euo', 'pipefail', '-c', inFolders(code, places)], { timeoutMs: shellTimeoutMs, logFile, cwd });
    return { name, cwd, places, shell };
  };
  const nameOf = (index: number) => `mpc-node-${index}`;
  const bring = (from: string, to: string, file: string) => copyFileSync(path.join(from, file), path.join(to, file));

  const office = prepare('office');
  const ofGateway = prepare('gateway');
  const ofNodes = nodeIndexes.map((index) => ({ index, ...prepare(nameOf(index)) }));

  await step('several machines: the files of all', async () => {
    const { run: runShell } = await open(office.name, null, null);
    // the engine makes the folder that it mounts
    await runShell(commandsOf('docker'));
    await office.shell('cp -a deployment whole');
    for (const { index, shell, cwd, name } of ofNodes) {
      await shell(forNode(index, commandsOf('operator')));
      bring(cwd, office.cwd, `${name}.csr`);
    }
    await office.shell(commandsOf('gateway'));
    await office.shell(commandsOf('pack'));
  });
  await step('several machines: folders, owners, variables', async () => {
    bring(office.cwd, ofGateway.cwd, 'gateway.tar');
    await ofGateway.shell(commandsOf('gatewayfolders'));
    await ofGateway.shell(withTrial(commandsOf('gatewayenv'), trial));
    for (const { index, shell, cwd, name } of ofNodes) {
      bring(office.cwd, cwd, `${name}.tar`);
      await shell(forNode(index, commandsOf('look')));
      await shell(forNode(index, commandsOf('nodefolders')));
      await shell(forNode(index, withTrial(commandsOf('nodeenv'), trial)));
    }
  });

  const start = async ({ name, cwd, places }: ReturnType<typeof prepare>): Promise<Machine> => {
    const env = readVariables(readFileSync(path.join(cwd, '.env'), 'utf8'));
    const files = (env.COMPOSE_FILE ?? '').split(':').map((file) => path.join(projectRoot, file));
    const project = await loadCompose(loader, files, { cwd, env });
    const machine = await open(name, project, env.LISTEN_ADDRESS ?? env.GATEWAY_ADDRESS ?? '');
    return { ...machine, run: (code) => machine.run(inFolders(code, places)) };
  };
  const gateway = await start(ofGateway);
  await step("several machines: the gateway's stores", () => gateway.run(commandsOf('gatewaystores')));
  const nodes: Machine[] = [];
  for (const machine of ofNodes) nodes.push(await start(machine));
  await step('several machines: three nodes', () => Promise.all(nodes.map((node) => node.run(commandsOf('nodestart')))));
  await step('several machines: local chains', () => Promise.all(chains.map((name) => gateway.containers.startHealthy(name))));
  await step("several machines: the gateway's processes", () => gateway.run(commandsOf('gatewayrest')));

  const { containers, shellImage } = gateway;
  const { state } = await step('several machines: a transfer is CONFIRMED', () =>
    makeFirstTransfer(containers, { folder: path.join(gateway.folder, 'first-transfer'), logFile, shellImage }),
  );
  const payments = new Payments(containers, shellImage, state);
  const checkAll = async () => {
    await gateway.run(commandsOf('gatewaycheck'));
    for (const [at, node] of nodes.entries()) {
      const shown = await node.run(commandsOf('nodecheck'));
      for (const expected of [`node`, 'ethereum', 'the journal is what this node has signed'])
        if (!shown.includes(expected)) throw new Error(`node ${at + 1} has not printed ${expected}:\n${shown.slice(-1_000)}`);
    }
  };
  await step('several machines: all is well', checkAll);
  await step('several machines: nothing but what is published is reached', () => assertClosed(gateway, nodes));

  const [first, second, third] = nodes;
  if (!first || !second || !third) throw new Error('there are three nodes');
  await step('several machines: a transfer without node 3', async () => {
    await third.run(commandsOf('nodestop'));
    await payments.pay();
    await third.run(commandsOf('nodeagain'));
  });
  await step('several machines: a restart of node 2, and a transfer without node 1', async () => {
    await second.run(commandsOf('noderestart'));
    await first.run(commandsOf('nodestop'));
    await payments.pay();
    await first.run(commandsOf('nodeagain'));
  });
  const withFunction = (code: string): string => `${commandsOf('machinefile')}\n${code}`;
  const superuser = commandsOf('superuser');
  // the dumps and restores below log in with what is written here
  await step(
    'several machines: passwords of nodes 1 and 2 and of the gateway are replaced, and a transfer without node 3',
    async () => {
      for (const [at, node] of [first, second].entries())
        for (const code of [commandsOf('nodelogin'), superuser]) await node.run(forNode(at + 1, withFunction(code)));
      for (const code of [commandsOf('gatewaylogin'), superuser, commandsOf('temporalpassword')])
        await gateway.run(withFunction(code));
      await third.run(commandsOf('nodestop'));
      await payments.pay();
      await third.run(commandsOf('nodeagain'));
    },
  );
  await step("several machines: Temporal's databases are made anew", async () => {
    await gateway.run(commandsOf('temporalanew'));
    for (const node of nodes) await node.run(commandsOf('noderestart'));
    await gateway.run(commandsOf('gatewayrest'));
    await payments.pay();
  });
  await step('several machines: the dump of node 1 is restored, and a transfer without node 2', async () => {
    await first.run(keyOfBackups);
    await first.run(commandsOf('nodedump'));
    await payments.pay();
    await first.run(commandsOf('noderestore'));
    await second.run(commandsOf('nodestop'));
    await payments.pay();
    await second.run(commandsOf('nodeagain'));
  });
  await step('several machines: the dump of the gateway is restored, and a transfer since then is rebuilt', async () => {
    const since = new PaidSince(containers, shellImage, state);
    await gateway.run(keyOfBackups);
    await gateway.run(commandsOf('gatewaydump'));
    await since.pay();
    await since.comesBack(gateway.run, await gateway.run(commandsOf('gatewayrestore')));
  });
  await step('several machines: an update', async () => {
    await gateway.run(withoutLines(commandsOf('gatewayupdate')));
    for (const node of nodes) await node.run(withoutLines(commandsOf('nodeupdate')));
    await gateway.run(commandsOf('gatewayreplace'));
    await payments.pay();
    await checkAll();
  });
}

/** The services of a machine, in the form of docker-compose.yml. */
function servicesOf(project: Project): Record<string, Service> {
  return Object.fromEntries(Object.entries(project.services).map(([name, service]) => [name, toService(service, project)]));
}

function toService(loaded: Loaded, { volumes }: Project): Service {
  const { networks = {}, ports = [], volumes: mounted = [], command, entrypoint, healthcheck, ...rest } = loaded;
  return {
    ...(rest as unknown as Service),
    image: withoutDigests(loaded.image),
    ...(command ? { command } : {}),
    ...(entrypoint ? { entrypoint } : {}),
    networks: Object.keys(networks),
    ports: ports.map((it) => `${it.host_ip}:${it.published}:${it.target}`),
    // a volume that is a folder of the machine is mounted as that folder
    volumes: mounted.map(
      (it) => `${volumes[it.source]?.driver_opts?.device ?? it.source}:${it.target}${it.read_only ? ':ro' : ''}`,
    ),
    tmpfs: loaded.tmpfs ?? [],
    ...(loaded.stop_grace_period ? { stop_grace_period: inSeconds(loaded.stop_grace_period) } : {}),
    ...(healthcheck
      ? {
          healthcheck: {
            ...healthcheck,
            interval: inSeconds(healthcheck.interval),
            start_period: inSeconds(healthcheck.start_period),
          },
        }
      : {}),
  };
}

/** `1m30s` as `90s`. */
function inSeconds(duration: string): string {
  const [, minutes = '0', seconds = '0'] = /^(?:(\d+)m)?(?:(\d+)s)?$/.exec(duration) ?? [];
  return `${Number(minutes) * 60 + Number(seconds)}s`;
}

/** `setup` of docker-compose.yml, which makes the files; without the volumes of one machine. */
function toSetUp(trial: Readonly<Record<string, string>>): Service {
  const { setup } = resolveCompose(trial).services;
  if (!setup) throw new Error('docker-compose.yml has no service setup');
  return { ...setup, volumes: [] };
}

/** Of a deployment on local chains, which are on the gateway's machine. */
function withTrial(code: string, trial: Readonly<Record<string, string>>): string {
  const lines = code.replace('GATEWAY_ENV=production', `GATEWAY_ENV=${trial.GATEWAY_ENV}`).replace(/^CHAIN_\w+=.*\n/gm, '');
  if (lines.includes('deploy/node')) return lines;
  const added = Object.entries(trial).filter(([name]) => name.startsWith('CHAIN_'));
  return lines.replace(/^end$/m, `${added.map(([name, value]) => `${name}=${value}\n`).join('')}end`);
}

const withoutLines = (code: string): string =>
  code
    .split('\n')
    .filter((line) => !(line in lineNotRun))
    .join('\n');

/** From the API, which is on a network that leaves its machine, and from a node. */
async function assertClosed(gateway: Machine, nodes: readonly Machine[]): Promise<void> {
  const [first] = nodes;
  if (!first) throw new Error('there is no node');
  const tried = (machine: Machine, name: string, host: string, port: number) =>
    machine.containers.shell(name, machine.shellImage, `nc -z -w 3 ${host} ${port} && echo open || echo closed`);
  const hosts = readVariables(readFileSync(path.join(gateway.folder, 'checkout', '.env'), 'utf8'));
  const [ofGateway = '', ofFirst = '', ofSecond = ''] = ['GATEWAY_ADDRESS', 'MPC_NODE_1_ADDRESS', 'MPC_NODE_2_ADDRESS'].map(
    (name) => hosts[name] ?? '',
  );
  for (const [machine, name, host, port, expected] of [
    [first, 'mpc-node', ofGateway, 7233, 'open'],
    [first, 'mpc-node', ofSecond, 9443, 'open'],
    [gateway, 'api', ofFirst, 9464, 'open'],
    [gateway, 'api', ofFirst, 5432, 'closed'],
    [first, 'mpc-node', ofSecond, 5432, 'closed'],
    [first, 'mpc-node', ofGateway, 5432, 'closed'],
    [first, 'mpc-node', ofGateway, 8080, 'closed'],
  ] as const) {
    const outcome = (await tried(machine, name, host, port)).trim();
    if (outcome !== expected) throw new Error(`${host}:${port} is ${outcome} in place of ${expected}`);
  }
}
