import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client, type QueryResultRow } from 'pg';
import { projectRoot } from '../../../dev/paths';
import { freePort } from '../../../dev/ports';
import { logTail, spawnLogged, until } from '../../../dev/processes';
import { Reaper } from '../../../dev/reaper';
import { type NodeIndex, nodeIndexes } from '../../../src/messages/nodes';
import { deployment, orderKeys } from '../../orders';
import { createGroup } from './certificates';
import { createNodeDatabase, type NodeDatabase } from './group';
import { putShare } from './node-processes';

const maxStartMs = 60_000;
/** As `stop_grace_period` of docker-compose.yml. */
const maxStopMs = 30_000;

/** How a process has ended, and how long after it was told to. */
export interface End {
  code: number | null;
  signal: NodeJS.Signals | null;
  ms: number;
}

/** Three signing nodes as they are deployed: the whole process of each, which serves its task queue on a Temporal server. */
export class ServedNodes {
  private readonly children = new Map<NodeIndex, ChildProcess>();
  private readonly reaper = new Reaper();

  private constructor(
    private readonly environments: Readonly<Record<NodeIndex, NodeJS.ProcessEnv>>,
    private readonly databases: readonly NodeDatabase[],
    private readonly folder: string,
  ) {}

  /** They have the wallet's key of test/shares under this id. */
  static async start(temporal: { address: string; namespace: string }, keyId: string): Promise<ServedNodes> {
    const folder = mkdtempSync(path.join(tmpdir(), 'served-nodes-'));
    const [files, ports, metricsPorts, databases] = await Promise.all([
      createGroup(),
      Promise.all(nodeIndexes.map(() => freePort())),
      Promise.all(nodeIndexes.map(() => freePort())),
      Promise.all(nodeIndexes.map(() => createNodeDatabase())),
    ]);
    const environmentOf = (index: NodeIndex): NodeJS.ProcessEnv => {
      const { key, cert, ca, peerCerts } = files.nodes[index];
      const others = nodeIndexes.filter((other) => other !== index);
      return {
        ...{ PATH: process.env.PATH, GATEWAY_ENV: 'local', LOG_LEVEL: 'info', CHAINS: 'ethereum' },
        ...{ TEMPORAL_ADDRESS: temporal.address, TEMPORAL_NAMESPACE: temporal.namespace },
        MPC_NODE_INDEX: String(index),
        MPC_NODE_DATABASE_URL: databases[index - 1]?.url,
        MPC_NODE_LISTEN_PORT: String(ports[index - 1]),
        MPC_NODE_PEERS: others.map((other) => `${other}=https://127.0.0.1:${ports[other - 1]}`).join(','),
        ...{ MPC_NODE_TLS_KEY: key, MPC_NODE_TLS_CERT: cert, MPC_NODE_TLS_CA: ca, MPC_NODE_PEER_CERTS: peerCerts },
        MPC_NODE_KEK: randomBytes(32).toString('hex'),
        MPC_NODE_JOURNAL_MARK: path.join(folder, `mark-${index}.json`),
        ...{ MPC_NODE_ORDER_KEYS: orderKeys, MPC_NODE_DEPLOYMENT: deployment },
        METRICS_PORT: String(metricsPorts[index - 1]),
      };
    };
    const environments = { 1: environmentOf(1), 2: environmentOf(2), 3: environmentOf(3) };
    const nodes = new ServedNodes(environments, databases, folder);
    try {
      for (const index of nodeIndexes) {
        const { MPC_NODE_DATABASE_URL: url = '', MPC_NODE_KEK: kek = '' } = environments[index];
        await putShare({ url, index, kek, keyId });
      }
      await Promise.all(nodeIndexes.map((index) => nodes.startNode(index)));
    } catch (error) {
      await nodes.close();
      throw error;
    }
    return nodes;
  }

  /** Returns once it is ready. @throws Error with the end of its log */
  async startNode(index: NodeIndex, changes: NodeJS.ProcessEnv = {}): Promise<void> {
    const entry = path.join(projectRoot, 'dist', 'src', 'processes', 'mpc-node.js');
    const env = { ...this.environments[index], ...changes };
    const child = spawnLogged({ command: process.execPath, args: [entry], env }, this.logFile(index));
    this.children.set(index, child);
    this.reaper.watch(child.pid as number, 'SIGKILL');
    const isReady = async () => (await this.page(index, '/health/ready')).ok;
    if (!(await until(isReady, maxStartMs))) throw new Error(`node ${index} is not ready:\n${logTail(this.logFile(index))}`);
  }

  /** SIGTERM; after as long as Docker waits, SIGKILL. */
  async terminate(index: NodeIndex): Promise<End> {
    const begun = performance.now();
    const { code, signal } = await this.endWith(index, 'SIGTERM');
    return { code, signal, ms: performance.now() - begun };
  }

  /** It answers nothing until `resume`; connections to it are accepted all the same. */
  pause(index: NodeIndex): void {
    this.running(index).kill('SIGSTOP');
  }

  resume(index: NodeIndex): void {
    this.running(index).kill('SIGCONT');
  }

  /** What its processes have written so far. */
  log(index: NodeIndex): string {
    return readFileSync(this.logFile(index), 'utf8');
  }

  /** Sessions of a kind that it has now. */
  async sessions(index: NodeIndex, kind: 'keygen' | 'sign'): Promise<number> {
    const text = await (await this.page(index, '/metrics')).text();
    return Number(new RegExp(`^gateway_mpc_sessions_active\\{kind="${kind}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
  }

  /** In its database. */
  async query<R extends QueryResultRow>(index: NodeIndex, statement: string, values: unknown[] = []): Promise<R[]> {
    const client = new Client({ connectionString: this.environments[index].MPC_NODE_DATABASE_URL });
    await client.connect();
    try {
      return (await client.query<R>(statement, values)).rows;
    } finally {
      await client.end();
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.children.keys()].map((index) => this.endWith(index, 'SIGKILL')));
    this.reaper.dismiss();
    await Promise.all(this.databases.map((database) => database.drop()));
    rmSync(this.folder, { recursive: true, force: true });
  }

  private running(index: NodeIndex): ChildProcess {
    const child = this.children.get(index);
    if (!child) throw new Error(`node ${index} does not run`);
    return child;
  }

  private logFile(index: NodeIndex): string {
    return path.join(this.folder, `node-${index}.log`);
  }

  private page(index: NodeIndex, at: string): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.environments[index].METRICS_PORT}${at}`, { signal: AbortSignal.timeout(5_000) });
  }

  private async endWith(index: NodeIndex, first: NodeJS.Signals): Promise<Pick<End, 'code' | 'signal'>> {
    const child = this.running(index);
    this.children.delete(index);
    const ended = new Promise<Pick<End, 'code' | 'signal'>>((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) resolve({ code: child.exitCode, signal: child.signalCode });
      else child.once('exit', (code, signal) => resolve({ code, signal }));
    });
    child.kill(first);
    const late = setTimeout(() => child.kill('SIGKILL'), maxStopMs);
    const end = await ended;
    clearTimeout(late);
    this.reaper.forget(child.pid as number);
    return end;
  }
}
