import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import type { NodeIndex } from '../../../src/messages/nodes';
import type { OrdersRequest } from '../../../src/messages/seen-orders';
import { mainTaskQueue, nodeTaskQueue } from '../../../src/messages/task-queues';
import { answerOrders } from '../../../src/mpc/orders-answer';
import type { SeenOrders } from '../../../src/mpc/seen-orders';
import { asksForOrders, fromEach } from '../../../src/orders/node-orders';
import { keyOf, nodeKeys } from '../../node-refusals';
import { recordRun } from '../../replay/record-run';
import { startTemporal, workflowBundle } from '../../temporal';

/** How the gateway asks the nodes, through a real workflow; the nodes are replaced by what they answer. */

jest.setTimeout(180_000);

let temporal: TestWorkflowEnvironment;
const workers: { worker: Worker; done: Promise<void> }[] = [];

/** `by`: whose key signs. */
const ordersSeen =
  (node: NodeIndex, by = node) =>
  (request: OrdersRequest) => {
    const seen = { newest: () => Promise.resolve(`a.${node}.c`), after: () => Promise.resolve([]) } as unknown as SeenOrders;
    return answerOrders({ self: node, seen, signingKey: keyOf(by) }, request);
  };

async function run(options: Partial<Parameters<typeof Worker.create>[0]> & { taskQueue: string }): Promise<void> {
  const { nativeConnection: connection, namespace } = temporal;
  const worker = await Worker.create({ connection, namespace, shutdownGraceTime: 100, ...options });
  workers.push({ worker, done: worker.run() });
}

beforeAll(async () => {
  temporal = await startTemporal();
  await run({ taskQueue: mainTaskQueue, workflowBundle });
  await run({ taskQueue: nodeTaskQueue(1), activities: { ordersSeen: ordersSeen(1) } });
  await run({ taskQueue: nodeTaskQueue(3), activities: { ordersSeen: ordersSeen(3, 1) } });
});
afterAll(async () => {
  for (const { worker } of workers) worker.shutdown();
  await Promise.all(workers.map(({ done }) => done));
  await temporal.teardown();
});

test('each node is asked; one that is down, and an answer that is not signed by the node itself, count for nothing', async () => {
  const asked = jest.spyOn(temporal.client.workflow, 'execute');
  expect(await asksForOrders(temporal.client, nodeKeys)(fromEach(7))).toEqual([
    { node: 1, answer: expect.objectContaining({ newest: 'a.1.c', orders: [], is_complete: true, after: 7 }) },
    { node: 2, problem: expect.stringContaining('no response in time') },
    { node: 3, problem: 'its signature does not verify' },
  ]);
  const [, options] = asked.mock.calls.at(-1) as unknown as [string, { workflowId: string }];
  await recordRun(temporal.client, options.workflowId, 'read-orders');
});
