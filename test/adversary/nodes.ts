import type { QueryResultRow } from 'pg';
import { endProcess, processIdentity } from '../../dev/processes';
import { type NodeIndex, nodeIndexes, type SigningPair } from '../../src/messages/nodes';
import { Identity } from '../../src/mpc/identity';
import { readConfig } from '../../src/platform/config';
import { dataFolder, killProcess, waitFor } from '../stack/client';
import { hold } from '../stack/held';
import { pids } from '../stack/pause';
import { alarmsOf, environmentOf, metricOf, ownPage, query } from './processes';

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

/** Value of a metric of a node, named with its labels as it is shown; 0 without a line. */
export const metric = (node: NodeIndex, series: string): Promise<number> => metricOf(nodeEnvironment(node), series);

/** Alarms in a node's log. */
export const alarms = (node: NodeIndex) => alarmsOf(`mpc-node-${node}`);

export const isReady = async (node: NodeIndex): Promise<boolean> => (await ownPage(nodeEnvironment(node), '/health/ready')).ok;

/** Resolves once the stack's own process of this node serves again. */
export async function nodeIsBack(node: NodeIndex): Promise<void> {
  await waitFor(() => isReady(node), { timeoutMs: 180_000 });
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
