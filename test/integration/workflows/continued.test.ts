import { deliveriesPendingSignal } from '../../../src/messages/webhooks';
import { blacklistChangedSignal } from '../../../src/messages/blacklist';
import { nodeIndexes } from '../../../src/messages/nodes';
import {
  authoriserTaskQueue,
  chainTaskQueue,
  mainTaskQueue,
  nodeTaskQueue,
  webhookTaskQueue,
} from '../../../src/messages/task-queues';
import * as ids from '../../../src/messages/workflow-ids';
import { recordRun } from '../../replay/record-run';
import { until } from '../transfers/served';
import { ServedActivities } from './served';
import { groupKey, nodeThatGenerates, permanently } from './stand-ins';

/** Workflows whose history has become long continue in a new run, which ends as the first one would have. */

jest.setTimeout(120_000);

const served = new ServedActivities({ suggestContinueAfter: 60 });
const handleOf = (workflowId: string) => served.temporal.client.workflow.getHandle(workflowId);

/** Waits until another run has taken over; returns the id of the first. */
async function continued(workflowId: string, first: string, meanwhile: () => Promise<unknown> = () => Promise.resolve()) {
  await until(`${workflowId} continues`, async () => {
    await meanwhile();
    return (await handleOf(workflowId).describe()).runId !== first;
  });
}
const recordBoth = async (workflowId: string, first: string, name: string) => {
  await recordRun(served.temporal.client, workflowId, `${name}-continued`, { runId: first });
  await recordRun(served.temporal.client, workflowId, `${name}-after-continue`);
};

test('the generation of a key goes on with the number of its next attempt', async () => {
  const ordered: string[] = [];
  const orderKeyGeneration = ({ keyId }: { keyId: string }) => {
    ordered.push(keyId);
    return { order: keyId };
  };
  // the first key is bound by no node
  const orderKeyBinding = ({ keyId }: { keyId: string }) =>
    keyId.endsWith('.1') ? permanently('invalid_parameter') : { order: keyId };
  await served.serve(mainTaskQueue, { activateWallet: () => undefined }, { runsWorkflows: true });
  await served.serve(authoriserTaskQueue, { orderKeyGeneration, orderKeyBinding });
  for (const node of nodeIndexes) await served.serve(nodeTaskQueue(node), nodeThatGenerates());
  const walletId = '0190b5a4-0000-7000-8000-00000000abc1';
  const workflowId = ids.generateKeyWorkflowId(walletId);
  const { firstExecutionRunId } = await served.temporal.client.workflow.start(ids.workflowTypes.generateKey, {
    ...{ workflowId, taskQueue: mainTaskQueue, args: [{ walletId, clientId: 'client' }] },
  });
  expect(await handleOf(workflowId).result()).toEqual(groupKey(`${walletId}.2`));
  expect(new Set(ordered)).toEqual(new Set([`${walletId}.1`, `${walletId}.2`]));
  await continued(workflowId, firstExecutionRunId);
  await recordBoth(workflowId, firstExecutionRunId, 'generate-key');
});

test('the delivery of webhooks goes on with the same stream', async () => {
  let calls = 0;
  const deliverNext = () => ({ outcome: 'delivered', waitMs: (calls += 1) < 12 ? 0 : null });
  await served.serve(webhookTaskQueue, { deliverNext }, { runsWorkflows: true });
  const stream = { webhookId: 'webhook', subjectId: 'subject' };
  const workflowId = ids.webhookWorkflowId(stream);
  const { signaledRunId } = await served.temporal.client.workflow.signalWithStart(ids.workflowTypes.deliverWebhooks, {
    ...{ workflowId, taskQueue: webhookTaskQueue, args: [stream], signal: deliveriesPendingSignal },
  });
  await handleOf(workflowId).result();
  expect(calls).toBe(12);
  await continued(workflowId, signaledRunId);
  await recordBoth(workflowId, signaledRunId, 'deliver-webhooks');
});

test('the distribution of a blacklist asks every node again', async () => {
  let isDown = true;
  await served.serve(mainTaskQueue, {}, { runsWorkflows: true });
  await served.serve(authoriserTaskQueue, { orderBlacklistPage: () => null });
  for (const node of nodeIndexes) {
    const blacklistVersion = () => {
      if (isDown && node === 3) throw new Error('down');
      return { version: 1 };
    };
    await served.serve(nodeTaskQueue(node), { blacklistVersion });
  }
  const clientId = 'client';
  const workflowId = ids.distributeBlacklistWorkflowId(clientId);
  const { firstExecutionRunId } = await served.temporal.client.workflow.start(ids.workflowTypes.distributeBlacklist, {
    ...{ workflowId, taskQueue: mainTaskQueue, args: [{ clientId }] },
  });
  await continued(workflowId, firstExecutionRunId, () => handleOf(workflowId).signal(blacklistChangedSignal));
  isDown = false;
  await handleOf(workflowId).result();
  await recordBoth(workflowId, firstExecutionRunId, 'distribute-blacklist');
});

test('the follower of a chain is called again after each of its runs', async () => {
  let calls = 0;
  const stopped = new Promise<void>((resolve) => setTimeout(resolve, 3_000));
  const followChain = async () => {
    if ((calls += 1) > 1) await stopped;
    return { nextBlock: calls };
  };
  await served.serve(mainTaskQueue, {}, { runsWorkflows: true });
  await served.serve(chainTaskQueue('ethereum'), { followChain });
  const workflowId = ids.followChainWorkflowId('ethereum');
  const { firstExecutionRunId } = await served.temporal.client.workflow.start(ids.workflowTypes.followChain, {
    ...{ workflowId, taskQueue: mainTaskQueue, args: [{ chain: 'ethereum' }] },
  });
  await continued(workflowId, firstExecutionRunId);
  await until('called again', () => Promise.resolve(calls === 2));
  await recordRun(served.temporal.client, workflowId, 'follow-chain-continued', { runId: firstExecutionRunId });
  await handleOf(workflowId).terminate();
});
