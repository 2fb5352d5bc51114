import type { WorkerOptions } from '@temporalio/worker';
import type { FollowerActivities } from '../messages/following';
import { chainTaskQueue, followTaskQueue } from '../messages/task-queues';
import type { ChainActivities } from '../messages/transfer';

/** One run of a chain's follower, and one that takes over while another worker's is ending. */
const followerSlots = { maxConcurrentActivityTaskExecutions: 2, maxConcurrentActivityTaskPolls: 1 } as const;
const transferSlots = { maxConcurrentActivityTaskExecutions: 20 } as const;

interface Activities {
  transfers: ChainActivities;
  follower: FollowerActivities;
}

/** What differs of the workers of one chain: queues and slots for its transfers and for its follower, so that neither waits for the other. */
export const chainWorkers = (
  chain: string,
  { transfers, follower }: Activities,
): Pick<WorkerOptions, 'taskQueue' | 'activities' | keyof typeof followerSlots>[] => [
  { ...transferSlots, taskQueue: chainTaskQueue(chain), activities: transfers },
  { ...followerSlots, taskQueue: followTaskQueue(chain), activities: follower },
];
