import { type NodeIndex } from './nodes';

/** Task queue of workflows and database activities. */
export const mainTaskQueue = 'gateway';

/** Task queue of the authoriser: what begins signing, and every other order. */
export const authoriserTaskQueue = 'authorise';

/** Task queue of a chain's activities, but of its follower. */
export const chainTaskQueue = (chain: string): string => `chain-${chain}`;

/** Task queue of a chain's follower: it waits for no transfer, and no transfer for it. */
export const followTaskQueue = (chain: string): string => `follow-${chain}`;

/** Task queue of webhook workflows and their attempts. */
export const webhookTaskQueue = 'webhooks';

/** Task queue of a node's activities. */
export const nodeTaskQueue = (node: NodeIndex): string => `mpc-node-${node}`;

export interface ServedQueue {
  name: string;
  /** What a worker process asks for there. */
  tasks: readonly ('workflow' | 'activity')[];
}

/** Every task queue of a worker process that serves these chains; workers without all of them leave work waiting. */
export const workerQueues = (chains: readonly string[]): ServedQueue[] => [
  ...[mainTaskQueue, webhookTaskQueue].map((name) => ({ name, tasks: ['workflow', 'activity'] as const })),
  ...chains
    .flatMap((chain) => [chainTaskQueue(chain), followTaskQueue(chain)])
    .map((name) => ({ name, tasks: ['activity'] as const })),
];
