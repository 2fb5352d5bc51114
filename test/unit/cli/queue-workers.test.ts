import type { Client } from '@temporalio/client';
import { queuesWithoutWorker } from '../../../src/cli/queue-workers';
import { workerQueues } from '../../../src/messages/task-queues';

/** Answers of a Temporal server about who has asked for work; test/integration/transfers/versions.test.ts asks a real one. */

interface Poller {
  secondsAgo?: number;
  buildId?: string;
  deploymentName?: string;
  mode?: number;
}

const [workflow, activity] = [1, 2];

/** On each queue these have asked for tasks of each type, unless `except` says that nobody has. */
function temporalWith(pollers: Poller[], except: (queue: string, type: number) => boolean = () => false): Client {
  const describeTaskQueue = ({ taskQueue, taskQueueType }: { taskQueue: { name: string }; taskQueueType: number }) => ({
    pollers: except(taskQueue.name, taskQueueType)
      ? []
      : pollers.map(({ secondsAgo = 1, mode = 2, buildId = '2', deploymentName = 'gateway' }) => ({
          lastAccessTime: { seconds: Math.floor(Date.now() / 1_000) - secondsAgo },
          ...(mode > 0 && { deploymentOptions: { workerVersioningMode: mode, buildId, deploymentName } }),
        })),
  });
  return { connection: { workflowService: { describeTaskQueue } }, options: { namespace: 'default' } } as never;
}

const queues = workerQueues(['base']);
const version = { deploymentName: 'gateway', buildId: '2' };
const all = [
  ...['gateway (workflow)', 'gateway (activity)', 'webhooks (workflow)', 'webhooks (activity)'],
  ...['chain-base (activity)', 'follow-base (activity)'],
];

test('nothing is missing where a worker of the build asks on every queue of a worker process', async () => {
  expect(await queuesWithoutWorker(temporalWith([{}]), queues, version)).toEqual([]);
});

test('each queue and kind of task that no worker of the build asks for is named', async () => {
  const isFollower = (queue: string) => queue === 'follow-base';
  expect(await queuesWithoutWorker(temporalWith([{}], isFollower), queues, version)).toEqual(['follow-base (activity)']);
  const isWebhook = (queue: string, type: number) => queue === 'webhooks' && type === workflow;
  expect(await queuesWithoutWorker(temporalWith([{}], isWebhook), queues, version)).toEqual(['webhooks (workflow)']);
  expect(
    await queuesWithoutWorker(
      temporalWith([{}], (_, type) => type === activity),
      queues,
      version,
    ),
  ).toEqual(all.filter((name) => name.includes('activity')));
});

test.each<[string, Poller]>([
  ['another build', { buildId: '1' }],
  ['another deployment', { deploymentName: 'other' }],
  ['none', { mode: 0 }],
  ['one that is named only, without versioning', { mode: 1 }],
])('workers of %s do not count', async (_, poller) => {
  expect(await queuesWithoutWorker(temporalWith([poller]), queues, version)).toEqual(all);
});

test('a worker that has not asked for more than a poll takes is gone', async () => {
  expect(await queuesWithoutWorker(temporalWith([{ secondsAgo: 85 }]), queues, version)).toEqual([]);
  expect(await queuesWithoutWorker(temporalWith([{ secondsAgo: 95 }]), queues, version)).toEqual(all);
});

test('without a version those count that have none', async () => {
  expect(await queuesWithoutWorker(temporalWith([{ mode: 0 }]), queues, null)).toEqual([]);
  expect(await queuesWithoutWorker(temporalWith([{ mode: 1 }]), queues, null)).toEqual([]);
  expect(await queuesWithoutWorker(temporalWith([{}]), queues, null)).toEqual(all);
});
