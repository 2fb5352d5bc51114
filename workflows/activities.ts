import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { NodeIndex, SigningPair } from '../src/messages/nodes';
import type { MpcNodeActivities } from '../src/messages/signing';
import { authoriserTaskQueue, chainTaskQueue, followTaskQueue, nodeTaskQueue } from '../src/messages/task-queues';
import type { AuthoriserActivities } from '../src/messages/authoriser';
import type { FollowerActivities } from '../src/messages/following';
import type { WalletActivities } from '../src/messages/key-generation';
import type { ChainActivities, TransferActivities } from '../src/messages/transfer';
import type { FailureCode } from '../src/platform/codes';

/**
 * Database steps: short, idempotent on tx_id, retried until the database is back. Waits longer than 10 s become timers, so that a
 * long outage does not keep workflow tasks open.
 */
const databaseStep = {
  startToCloseTimeout: '20 seconds',
  localRetryThreshold: '10 seconds',
  retry: { initialInterval: '200 milliseconds', backoffCoefficient: 2, maximumInterval: '30 seconds' },
} as const;
export const transferActivities = proxyLocalActivities<TransferActivities>(databaseStep);
/** Of those, what has to run once the workflow task that asks for it is in the history. */
export const recordingActivities = proxyActivities<Pick<TransferActivities, 'recordOperatorAct'>>({
  startToCloseTimeout: '30 seconds',
  retry: databaseStep.retry,
});
export const walletActivities = proxyLocalActivities<WalletActivities>(databaseStep);

/** What only the authoriser does; it is waited for while it is down. All of it is safe to repeat. */
export const authoriserActivities = proxyActivities<AuthoriserActivities>({
  taskQueue: authoriserTaskQueue,
  startToCloseTimeout: '20 seconds',
  retry: { initialInterval: '200 milliseconds', backoffCoefficient: 2, maximumInterval: '10 seconds' },
});

/** Steps on a chain's own task queue; without `maximumAttempts` they wait for a chain that is down. */
export const chainActivities = (chain: string, maximumAttempts?: number) =>
  proxyActivities<ChainActivities>({
    taskQueue: chainTaskQueue(chain),
    startToCloseTimeout: '20 seconds',
    retry: {
      initialInterval: '500 milliseconds',
      backoffCoefficient: 2,
      maximumInterval: '10 seconds',
      ...(maximumAttempts === undefined ? {} : { maximumAttempts }),
      // the chain answers, and may go on doing so: the workflow limits how long it is asked again
      nonRetryableErrorTypes: ['not_estimated' satisfies FailureCode],
    },
  });

/** The long activity that reads a chain; a dead worker is detected by its missing heartbeat. */
export const followerActivities = (chain: string) =>
  proxyActivities<FollowerActivities>({
    taskQueue: followTaskQueue(chain),
    startToCloseTimeout: '1 hour',
    heartbeatTimeout: '8 seconds',
    retry: { initialInterval: '500 milliseconds', backoffCoefficient: 2, maximumInterval: '5 seconds' },
  });

/** One node, one attempt: the workflow decides whether to try another pair. */
export const nodeActivities = (node: NodeIndex, startToCloseSeconds: number, summary?: string) =>
  proxyActivities<MpcNodeActivities>({
    taskQueue: nodeTaskQueue(node),
    scheduleToStartTimeout: '4 seconds',
    startToCloseTimeout: startToCloseSeconds * 1000,
    retry: { maximumAttempts: 1 },
    ...(summary === undefined ? {} : { summary }),
  });

/**
 * One node that generates a key once all three are idle; a busy one refuses, with nothing begun. With the test signatures afterwards it takes
 * less time than an order is valid (10 minutes).
 */
export const idleNodeActivities = (node: NodeIndex, summary: string) =>
  proxyActivities<Pick<MpcNodeActivities, 'generateKey'>>({
    taskQueue: nodeTaskQueue(node),
    startToCloseTimeout: '3 minutes',
    scheduleToCloseTimeout: '7 minutes',
    // longer and longer: a key that only a peer has is refused each time, and no answer says so
    retry: { initialInterval: '5 seconds', backoffCoefficient: 1.5, maximumInterval: '30 seconds' },
    summary,
  });

/** One node, without a limit on time: requests to a node that is down wait in its queue. */
export const patientNodeActivities = (node: NodeIndex) =>
  proxyActivities<Pick<MpcNodeActivities, 'applyBlacklist' | 'blacklistVersion'>>({
    taskQueue: nodeTaskQueue(node),
    startToCloseTimeout: '20 seconds',
    retry: { initialInterval: '500 milliseconds', backoffCoefficient: 2, maximumInterval: '30 seconds' },
    summary: `blacklist of node ${node}`,
  });

/** Contains each node as initiator once and each pair once. */
export const signingPairs: readonly SigningPair[] = [
  { initiator: 1, peer: 2 },
  { initiator: 2, peer: 3 },
  { initiator: 3, peer: 1 },
];

/**
 * The first of `count` choices to try, from the last digits of the id: distributes load over nodes and is the same on every replay.
 */
export function stableIndex(id: string, count: number): number {
  return Number.parseInt(id.slice(-4), 16) % count;
}
