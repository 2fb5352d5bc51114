import { nodeIndexes } from '../../../src/messages/nodes';
import { authoriserTaskQueue, mainTaskQueue, nodeTaskQueue } from '../../../src/messages/task-queues';
import * as ids from '../../../src/messages/workflow-ids';
import { recordRun } from '../../replay/record-run';
import { ServedActivities } from './served';
import { groupKey, nodeThatGenerates, permanently } from './stand-ins';

/** Workflows that end although a part of the first try was refused. */

jest.setTimeout(120_000);

const served = new ServedActivities();

test('a key is generated again, under another id, when a node refuses it or holds another one', async () => {
  const refusals: (() => unknown)[] = [() => permanently('order_refused')];
  let isOther = true;
  await served.serve(mainTaskQueue, { activateWallet: () => undefined }, { runsWorkflows: true });
  const order = ({ keyId }: { keyId: string }) => ({ order: keyId });
  await served.serve(authoriserTaskQueue, { orderKeyGeneration: order, orderKeyBinding: order });
  for (const node of nodeIndexes) {
    const usual = nodeThatGenerates();
    await served.serve(nodeTaskQueue(node), {
      ...usual,
      generateKey: (request: { order: string }) => refusals.shift()?.() ?? usual.generateKey(request),
      confirmKey: (request: { keyId: string }) => {
        const key = usual.confirmKey(request);
        if (!isOther || node !== 2) return key;
        isOther = false;
        return { ...key, publicKey: '0x02' };
      },
    });
  }
  const walletId = '0190b5a4-0000-7000-8000-00000000abc2';
  const workflowId = ids.generateKeyWorkflowId(walletId);
  const args = [{ walletId, clientId: 'client' }];
  const { client } = served.temporal;
  const key = await client.workflow.execute(ids.workflowTypes.generateKey, { workflowId, taskQueue: mainTaskQueue, args });
  expect(key).toEqual(groupKey(`${walletId}.3`));
  await recordRun(client, workflowId, 'generate-key-repeated');
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
