import { processIdentity } from '../../dev/processes';
import type { NodeIndex } from '../../src/messages/nodes';
import { isReady } from '../adversary/nodes';
import { environmentOf } from '../adversary/processes';
import { areAllChecksPassing, stack, waitFor } from '../stack/client';
import { pauseProcess, pids } from '../stack/pause';

export type Victim = 'api' | 'worker' | 'authoriser' | 'mpc' | 'all';
export const victims: Victim[] = ['api', 'worker', 'authoriser', 'mpc', 'all'];

const pidsOf = (node: NodeIndex): number[] => pids('mpc').filter((pid) => Number(environmentOf(pid).MPC_NODE_INDEX) === node);

/** Kills -9 what the supervisor will start again; of the nodes this one, since two of three must go on. */
export function kill(victim: Victim, node: NodeIndex): void {
  const [api, worker, authoriser] = [pids('api'), pids('worker'), pids('authoriser')];
  const mpc = pidsOf(node);
  const of = { api, worker, authoriser, mpc, all: [...api, ...worker, ...authoriser, ...mpc] };
  for (const pid of of[victim]) process.kill(pid, 'SIGKILL');
}

/** This node does not respond until `resumeAll`. */
export const hang = (node: NodeIndex): void => pidsOf(node).forEach(pauseProcess);

/** What was killed is started again, but not at once. */
export async function allRun(): Promise<void> {
  const isRunning = () =>
    Object.values(stack().processes)
      .flat()
      .every((pid) => processIdentity(pid) !== null);
  await waitFor(isRunning);
  await waitFor(areAllChecksPassing, { timeoutMs: 180_000 });
  await Promise.all(([1, 2, 3] as const).map((node) => waitFor(() => isReady(node), { timeoutMs: 180_000 })));
}
