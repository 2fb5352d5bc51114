import type { Client } from '@temporalio/client';
import type { ServedQueue } from '../messages/task-queues';

interface Version {
  deploymentName: string;
  buildId: string;
}

/** temporal.api.enums.v1.TaskQueueType, by name. */
const types = { workflow: 1, activity: 2 } as const;
/** temporal.api.enums.v1.WorkerVersioningMode */
const versioned = 2;

/** A poll takes up to a minute and is then repeated; Temporal remembers workers for five minutes, also those that are gone. */
const recentMs = 90_000;

/**
 * The queues on which no worker of this version has asked for a kind of task in the last 90 seconds, as `chain-base (activity)`.
 * @param version null: workers without a version
 */
export async function queuesWithoutWorker(
  { connection: { workflowService: service }, options: { namespace } }: Client,
  queues: readonly ServedQueue[],
  version: Version | null,
): Promise<string[]> {
  const asked = queues.flatMap(({ name, tasks }) => tasks.map((type) => ({ name, type })));
  const missing = asked.map(async ({ name, type }) => {
    const { pollers } = await service.describeTaskQueue({ namespace, taskQueue: { name }, taskQueueType: types[type] });
    const isServed = pollers.some(({ lastAccessTime, deploymentOptions: options }) => {
      const isRecent = Number(lastAccessTime?.seconds ?? 0) * 1_000 > Date.now() - recentMs;
      const isVersioned = Number(options?.workerVersioningMode) === versioned;
      if (version === null) return isRecent && !isVersioned;
      return isRecent && isVersioned && options?.deploymentName === version.deploymentName && options.buildId === version.buildId;
    });
    return isServed ? [] : [`${name} (${type})`];
  });
  return (await Promise.all(missing)).flat();
}
