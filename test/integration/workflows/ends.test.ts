import { nodeIndexes } from '../../../src/messages/nodes';
import { authoriserTaskQueue, mainTaskQueue, nodeTaskQueue, webhookTaskQueue } from '../../../src/messages/task-queues';
import * as ids from '../../../src/messages/workflow-ids';
import { recordRun } from '../../replay/record-run';
import { ServedActivities } from './served';
import { groupKey, nodeThatGenerates, permanently } from './stand-ins';

/** Workflows that end although a part of the first try was refused. */

jest.setTimeout(120_000);

const served = new ServedActivities();

test('a key is generated again, under another id, when it is not ordered, or a node holds another one; one that is down is waited for', async () => {
  let isOrdered = false;
  let isOther = true;
  let isDown = true;
  await served.serve(mainTaskQueue, { activateWallet: () => undefined }, { runsWorkflows: true });
  const order = ({ keyId }: { keyId: string }) => ({ order: keyId });
  const orderKeyGeneration = (key: { keyId: string }) => {
    if (isOrdered) return order(key);
    isOrdered = true;
    return permanently('not_found');
  };
  await served.serve(authoriserTaskQueue, { orderKeyGeneration, orderKeyBinding: order });
  for (const node of nodeIndexes) {
    const usual = nodeThatGenerates();
    const confirmKey = (request: { keyId: string }) => {
      const key = usual.confirmKey(request);
      if (!isOther || node !== 2) return key;
      isOther = false;
      return { ...key, publicKey: '0x02' };
    };
    const bindKey = () => {
      if (!isDown) return usual.bindKey();
      isDown = false;
      throw new Error('down');
    };
    await served.serve(nodeTaskQueue(node), { ...usual, confirmKey, bindKey });
  }
  const walletId = '0190b5a4-0000-7000-8000-00000000abc2';
  const workflowId = ids.generateKeyWorkflowId(walletId);
  const args = [{ walletId, clientId: 'client' }];
  const { client } = served.temporal;
  const key = await client.workflow.execute(ids.workflowTypes.generateKey, { workflowId, taskQueue: mainTaskQueue, args });
  expect(key).toEqual(groupKey(`${walletId}.3`));
  await recordRun(client, workflowId, 'generate-key-repeated');
});

test('a delivery to a busy endpoint is tried again, and told how often it was', async () => {
  const asked: number[] = [];
  const deliverNext = ({ busyTimes }: { busyTimes: number }) => {
    asked.push(busyTimes);
    return asked.length < 3 ? { outcome: 'busy', waitMs: 100 } : { outcome: 'delivered', waitMs: null };
  };
  await served.serve(webhookTaskQueue, { deliverNext }, { runsWorkflows: true });
  const stream = { webhookId: 'webhook', subjectId: 'subject' };
  const workflowId = ids.webhookWorkflowId(stream);
  const { client } = served.temporal;
  const options = { workflowId, taskQueue: webhookTaskQueue, args: [stream] };
  await client.workflow.execute(ids.workflowTypes.deliverWebhooks, options);
  expect(asked).toEqual([0, 1, 2]);
  await recordRun(client, workflowId, 'deliver-webhooks-busy');
});

test('a node that refuses a page of a blacklist, as one whose order has expired, is asked for its version half a minute later', async () => {
  let isRefused = true;
  let version = 0;
  await served.serve(mainTaskQueue, {}, { runsWorkflows: true });
  const page = { order: 'order', changes: [] };
  const orderBlacklistPage = ({ after }: { after: number }) => (after === 0 ? page : null);
  await served.serve(authoriserTaskQueue, { orderBlacklistPage });
  for (const node of nodeIndexes) {
    const applyBlacklist = () => {
      if (node !== 1 || !isRefused) return { version: (version = 1) };
      isRefused = false;
      return permanently('order_refused');
    };
    await served.serve(nodeTaskQueue(node), { applyBlacklist, blacklistVersion: () => ({ version: 0 }) });
  }
  const workflowId = ids.distributeBlacklistWorkflowId('client');
  const args = [{ clientId: 'client' }];
  const { client } = served.temporal;
  await client.workflow.execute(ids.workflowTypes.distributeBlacklist, { workflowId, taskQueue: mainTaskQueue, args });
  expect([version, isRefused]).toEqual([1, false]);
  await recordRun(client, workflowId, 'distribute-blacklist-refused');
});
