import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { QueryResultRow } from 'pg';
import { endProcess, processIdentity } from '../../dev/processes';
import { type NodeIndex, nodeIndexes, type SigningPair } from '../../src/messages/nodes';
import { Identity } from '../../src/mpc/identity';
import { readConfig } from '../../src/platform/config';
import { dataFolder, killProcess, waitFor } from '../stack/client';
import { hold } from '../stack/held';
import { pids } from '../stack/pause';
import { environmentOf, query } from './processes';

export const signingPairs: SigningPair[] = [
  { initiator: 1, peer: 2 },
  { initiator: 2, peer: 3 },
  { initiator: 3, peer: 1 },
];

/** By node; the order of the processes in stack.json stays as it is when one is started again. */
const started = new Map<NodeIndex, { position: number; env: NodeJS.ProcessEnv }>();

function startOf(node: NodeIndex): { position: number; env: NodeJS.ProcessEnv } {
  if (started.size === 0)
    for (const [position, pid] of pids('mpc').entries()) {
      const env = environmentOf(pid);
      started.set(Number(env.MPC_NODE_INDEX) as NodeIndex, { position, env });
    }
  const found = started.get(node);
  if (!found) throw new Error(`the stack has no node ${node}`);
  return found;
}

/** The environment of a node of the stack. */
export const nodeEnvironment = (node: NodeIndex): NodeJS.ProcessEnv => startOf(node).env;

const nodePid = (node: NodeIndex): number => pids('mpc')[startOf(node).position] ?? 0;

export function nodeIdentity(node: NodeIndex): Identity {
  const names = ['MPC_NODE_TLS_KEY', 'MPC_NODE_TLS_CERT', 'MPC_NODE_TLS_CA', 'MPC_NODE_PEER_CERTS'] as const;
  const { MPC_NODE_TLS_KEY: key, ...config } = readConfig(names, nodeEnvironment(node));
  const { MPC_NODE_TLS_CERT: cert, MPC_NODE_TLS_CA: ca, MPC_NODE_PEER_CERTS: peerCerts } = config;
  return new Identity({ index: node, key, cert, ca, peerCerts });
}

/** In a node's own database, with its own login. */
export const nodeQuery = <R extends QueryResultRow>(node: NodeIndex, statement: string, values: unknown[] = []): Promise<R[]> =>
  query<R>(nodeEnvironment(node).MPC_NODE_DATABASE_URL ?? '', statement, values);

const address = (node: NodeIndex, of: string): string => `http://127.0.0.1:${nodeEnvironment(node).METRICS_PORT}${of}`;

/** Value of a metric, named with its labels as it is shown; 0 without a line. */
export async function metric(node: NodeIndex, series: string): Promise<number> {
  const text = await (await fetch(address(node, '/metrics'))).text();
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${series} `));
  return Number(line?.split(' ')[1] ?? 0);
}

interface LogLine {
  alert?: string;
  peer?: NodeIndex;
  node?: NodeIndex;
  key_id?: string;
  tx_id?: string;
}

/** Alarms in a node's log. */
export function alarms(node: NodeIndex): LogLine[] {
  const text = readFileSync(path.join(dataFolder(), 'logs', `mpc-node-${node}.log`), 'utf8');
  const lines = text.split('\n').filter((line) => line.includes('"alert"'));
  return lines.map((line) => JSON.parse(line) as LogLine);
}

export const isReady = async (node: NodeIndex): Promise<boolean> => (await fetch(address(node, '/health/ready'))).ok;

/** Resolves once the stack's own process of this node serves again. */
export async function nodeIsBack(node: NodeIndex): Promise<void> {
  await waitFor(() => isReady(node), { timeoutMs: 60_000 });
}

/** Ends a node's process; it is started again when the returned function is called. */
export async function stopNode(node: NodeIndex): Promise<() => void> {
  const pid = nodePid(node);
  const release = hold(dataFolder(), `mpc-node-${node}`);
  await endProcess(pid, processIdentity(pid) ?? '', 'SIGTERM', 15_000);
  return release;
}

/** One after another, so that there is always a pair. */
export async function restartNodes(nodes: readonly NodeIndex[] = nodeIndexes): Promise<void> {
  for (const node of nodes) {
    await killProcess('mpc', startOf(node).position);
    await nodeIsBack(node);
  }
}
