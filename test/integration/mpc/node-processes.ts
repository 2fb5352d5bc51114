import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from '../../../dev/ports';
import { until } from '../../../dev/processes';
import { migrations } from '../../../migrations/mpc-node';
import type { KeyProtocol } from '../../../src/chains/types';
import { toGroupKey } from '../../../src/mpc/agree-on-key';
import { ShareStore } from '../../../src/mpc/store';
import type { GroupKey } from '../../../src/messages/key-generation';
import { type NodeIndex, nodeIndexes } from '../../../src/messages/nodes';
import type { MpcNodeActivities } from '../../../src/messages/signing';
import { deployment, orderHead, orderKeys, signOrder } from '../../orders';
import { committedKey, readShare } from '../../shares';
import { createGroup } from './certificates';
import { createNodeDatabase, type NodeDatabase, wallet } from './group';
import { client } from './transactions';

const maxStartMs = 20_000;
const maxStopMs = 15_000;

/** With BENCH_CPU_PROFILES=<folder> each process writes a profile there when it ends. */
const profiling = (): string[] => {
  const folder = process.env.BENCH_CPU_PROFILES;
  return folder ? ['--cpu-prof', `--cpu-prof-dir=${folder}`] : [];
};

interface Waiting {
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
}

/** A program that answers messages (node-process.mjs). */
class NodeProcess {
  private readonly child: ChildProcess;
  private readonly waiting = new Map<number, Waiting>();
  private readonly ended: Promise<unknown>;
  private lastId = 0;

  constructor() {
    const stdio = ['ignore', 'inherit', 'inherit', 'ipc'] as const;
    this.child = fork(path.join(__dirname, 'node-process.mjs'), { execArgv: profiling(), stdio: [...stdio] });
    this.ended = once(this.child, 'exit').then(() => {
      for (const { reject } of this.waiting.values()) reject(new Error('the node has ended'));
      this.waiting.clear();
    });
    this.child.on('message', ({ id, value, error }: { id: number; value?: unknown; error?: string }) => {
      const { resolve, reject } = this.waiting.get(id) ?? {};
      this.waiting.delete(id);
      if (error === undefined) resolve?.(value);
      else reject?.(new Error(error));
    });
  }

  get pid(): number {
    return this.child.pid as number;
  }

  /** @throws Error with the code and the text of what the node has thrown, or where it ends before it answers. */
  ask<T>(activity: string, input?: unknown): Promise<T> {
    this.lastId += 1;
    const id = this.lastId;
    return new Promise<T>((resolve, reject) => {
      this.waiting.set(id, { resolve: resolve as Waiting['resolve'], reject });
      this.child.send({ id, activity, input }, (error) => error && reject(error));
    });
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
  }

  async stop(): Promise<void> {
    const late = setTimeout(() => this.child.kill('SIGKILL'), maxStopMs);
    this.ask('stop').catch(() => undefined);
    await this.ended;
    clearTimeout(late);
  }
}

/** Three signing nodes, each in a process of its own with a database of its own and its journal; no Temporal. */
export class NodeProcesses {
  private readonly nodes = new Map<NodeIndex, NodeProcess>();

  private constructor(
    private readonly settings: ReadonlyMap<NodeIndex, object>,
    private readonly databases: Record<NodeIndex, NodeDatabase>,
    private readonly folder: string,
  ) {}

  /** They have the wallet's key of test/shares under this id, if one is given. */
  static async start(ecdsaKeyId?: string): Promise<NodeProcesses> {
    const folder = mkdtempSync(path.join(tmpdir(), 'signing-nodes-'));
    const [files, ports, [one, two, three]] = await Promise.all([
      createGroup(),
      Promise.all(nodeIndexes.map(() => freePort())),
      Promise.all([createNodeDatabase(), createNodeDatabase(), createNodeDatabase()]),
    ]);
    const databases = { 1: one, 2: two, 3: three };
    const peers = nodeIndexes.map((index, at) => `${index}=https://127.0.0.1:${ports[at]}`);
    const settings = nodeIndexes.map((index, at) => {
      const facts = { identity: files.nodes[index], port: ports[at], url: databases[index].url, orderKeys, deployment };
      const kek = randomBytes(32).toString('hex');
      const mark = path.join(folder, `mark-${index}.json`);
      const others = peers.filter((_, place) => place !== at).join(',');
      return [index, { ...facts, kek, mark, peers: others, chains: ['ethereum', 'solana'] }] as const;
    });
    const group = new NodeProcesses(new Map(settings), databases, folder);
    try {
      for (const [index, { url, kek }] of settings) {
        if (ecdsaKeyId !== undefined) await putShare({ url, index, kek, keyId: ecdsaKeyId });
        await group.startNode(index);
      }
      await group.untilComplete();
    } catch (error) {
      await group.stop();
      throw error;
    }
    return group;
  }

  async startNode(index: NodeIndex): Promise<void> {
    const node = new NodeProcess();
    this.nodes.set(index, node);
    await node.ask('start', this.settings.get(index));
  }

  /** Until every node has its whole journal, for which it asks the others: without that it signs nothing. @throws Error when it takes too long */
  async untilComplete(): Promise<void> {
    const isComplete = async () => {
      const all = await Promise.all([...this.nodes.values()].map((node) => node.ask<boolean>('isComplete')));
      return all.every(Boolean);
    };
    if (!(await until(isComplete, maxStartMs))) throw new Error('a node does not get its journal');
  }

  /** SIGKILL. */
  async kill(index: NodeIndex): Promise<void> {
    await this.nodes.get(index)?.kill();
    this.nodes.delete(index);
  }

  get pids(): number[] {
    return [...this.nodes.values()].map(({ pid }) => pid);
  }

  databaseUrl(index: NodeIndex): string {
    return this.databases[index].url;
  }

  ask<Name extends keyof MpcNodeActivities>(
    index: NodeIndex,
    activity: Name,
    input: Parameters<MpcNodeActivities[Name]>[0],
  ): ReturnType<MpcNodeActivities[Name]> {
    const node = this.nodes.get(index);
    if (!node) throw new Error(`node ${index} is down`);
    return node.ask(activity, input) as ReturnType<MpcNodeActivities[Name]>;
  }

  /** A new key, bound to nobody. */
  async generateKey(initiator: NodeIndex, keyId: string, protocol?: KeyProtocol): Promise<GroupKey> {
    const facts = { kind: 'generate_key', key_id: keyId, client_id: client, ...(protocol && { protocol }) } as const;
    return this.ask(initiator, 'generateKey', { order: await signOrder({ ...orderHead(), ...facts }) });
  }

  /** To its wallet, or to one of its accounts. */
  async bindKey(keyId: string, accountId?: string): Promise<void> {
    const owner = { wallet_id: wallet, client_id: client, ...(accountId !== undefined && { account_id: accountId }) };
    const order = await signOrder({ ...orderHead(), kind: 'bind_key', key_id: keyId, ...owner });
    await Promise.all(nodeIndexes.map((index) => this.ask(index, 'bindKey', { order })));
  }

  async stop(): Promise<void> {
    await Promise.all([...this.nodes.values()].map((node) => node.stop()));
    await Promise.all(nodeIndexes.map((index) => this.databases[index].drop()));
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export const committedGroupKey = (keyId: string): GroupKey => toGroupKey(keyId, committedKey);

interface PutShare {
  url: string;
  index: NodeIndex;
  kek: string;
  keyId: string;
}

/** Of a node that does not run; as a key generation stores it. */
export async function putShare({ url, index, kek, keyId }: PutShare): Promise<void> {
  const store = await ShareStore.open({ url, node: index, keks: [Buffer.from(kek, 'hex')], migrations });
  const { publicKey, chainCode } = committedKey;
  await store.put({ keyId, clientId: client, protocol: 'ecdsa-secp256k1', publicKey, chainCode, share: readShare(index) });
  await store.close();
}
