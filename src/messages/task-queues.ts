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
