import { proxyActivities } from '@temporalio/workflow';

/** One activity on any task queue, once: what a client of Temporal can have done. */
export interface Scheduled {
  taskQueue: string;
  activity: string;
  input: unknown;
}

export async function schedule({ taskQueue, activity, input }: Scheduled): Promise<unknown> {
  const activities = proxyActivities<Record<string, (input: unknown) => Promise<unknown>>>({
    taskQueue,
    // a key generation takes as long as in the workflow of a wallet
    scheduleToCloseTimeout: '200 seconds',
    startToCloseTimeout: '180 seconds',
    retry: { maximumAttempts: 1 },
  });
  const run = activities[activity];
  return run?.(input);
}
