import { nodeIndexes } from '../../../src/messages/nodes';
import { authoriserTaskQueue, mainTaskQueue, nodeTaskQueue, webhookTaskQueue } from '../../../src/messages/task-queues';
import * as ids from '../../../src/messages/workflow-ids';
import { recordRun } from '../../replay/record-run';
import { waitFor } from '../../stack/client';
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
  await served.serve(authoriserTaskQueue, { takePooledKey: () => null, orderKeyGeneration, orderKeyBinding: order });
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

/** A wallet for which its test has the workflow run, and what it ends with. */
async function runKeyGeneration(walletId: string, name: string): Promise<unknown> {
  const workflowId = ids.generateKeyWorkflowId(walletId);
  const { client } = served.temporal;
  const args = [{ walletId, clientId: 'client' }];
  const key = await client.workflow.execute(ids.workflowTypes.generateKey, { workflowId, taskQueue: mainTaskQueue, args });
  await recordRun(client, workflowId, name);
  return key;
}

test('a wallet gets a key of the pool; where none is there, a node does not bind it, or one has it bound to another, one is generated', async () => {
  const order = ({ keyId }: { keyId: string }) => ({ order: keyId });
  const pool = new Map([
    ['0190b5a4-0000-7000-8000-00000000abd1', 'pool-good.1'],
    ['0190b5a4-0000-7000-8000-00000000abd2', 'pool-refused.1'],
    ['0190b5a4-0000-7000-8000-00000000abd3', 'pool-bound-elsewhere.1'],
    ['0190b5a4-0000-7000-8000-00000000abd4', undefined],
  ]);
  const [activated, bound]: [unknown[], string[]] = [[], []];
  const activateWallet = (input: { walletId: string; keyId: string }) => void activated.push([input.walletId, input.keyId]);
  await served.serve(mainTaskQueue, { activateWallet }, { runsWorkflows: true });
  const takePooledKey = ({ walletId }: { walletId: string }) => {
    const keyId = pool.get(walletId);
    return keyId === undefined ? null : { keyId };
  };
  await served.serve(authoriserTaskQueue, { takePooledKey, orderKeyGeneration: order, orderKeyBinding: order });
  const usual = nodeThatGenerates();
  for (const node of nodeIndexes) {
    const bindKey = ({ order: keyId }: { order: string }) => {
      bound.push(keyId);
      return node === 3 && keyId === 'pool-refused.1' ? permanently('business_error') : usual.bindKey();
    };
    const confirmKey = ({ keyId }: { keyId: string }) => ({
      ...usual.confirmKey({ keyId }),
      walletId: node === 3 && keyId === 'pool-bound-elsewhere.1' ? 'another' : null,
    });
    await served.serve(nodeTaskQueue(node), { ...usual, confirmKey, bindKey });
  }
  const [good, refused, elsewhere, none] = [...pool.keys()] as [string, string, string, string];
  expect(await runKeyGeneration(good, 'generate-key-pooled')).toEqual(groupKey('pool-good.1'));
  expect(await runKeyGeneration(refused, 'generate-key-pooled-refused')).toEqual(groupKey(`${refused}.1`));
  expect(await runKeyGeneration(elsewhere, 'generate-key-pooled-elsewhere')).toEqual(groupKey(`${elsewhere}.1`));
  expect(await runKeyGeneration(none, 'generate-key')).toEqual(groupKey(`${none}.1`));
  expect(activated).toEqual([
    [good, 'pool-good.1'],
    ...[refused, elsewhere, none].map((walletId) => [walletId, `${walletId}.1`]),
  ]);
  expect(bound).not.toContain('pool-bound-elsewhere.1');
});

test('a key of the pool is waited for while a node is down or not ready, and given up where one does not have it', async () => {
  const order = ({ keyId }: { keyId: string }) => ({ order: keyId });
  const [later, lost] = ['0190b5a4-0000-7000-8000-00000000abe1', '0190b5a4-0000-7000-8000-00000000abe2'];
  await served.serve(mainTaskQueue, { activateWallet: () => undefined }, { runsWorkflows: true });
  const takePooledKey = ({ walletId }: { walletId: string }) => ({ keyId: walletId === later ? 'pool-later.1' : 'pool-lost.1' });
  await served.serve(authoriserTaskQueue, { takePooledKey, orderKeyGeneration: order, orderKeyBinding: order });
  const usual = nodeThatGenerates();
  let isBehind = true;
  for (const node of [1, 3] as const) {
    const confirmKey = (request: { keyId: string }) =>
      node === 3 && request.keyId === 'pool-lost.1' ? permanently('not_found') : usual.confirmKey(request);
    const bindKey = () => {
      if (node !== 3 || !isBehind) return usual.bindKey();
      isBehind = false;
      return permanently('journal_behind');
    };
    await served.serve(nodeTaskQueue(node), { ...usual, confirmKey, bindKey });
  }
  const { client } = served.temporal;
  const got = runKeyGeneration(later, 'generate-key-pooled-later');
  // nobody serves node 2
  const handle = client.workflow.getHandle(ids.generateKeyWorkflowId(later));
  await waitFor(async () => {
    const { events } = await handle.fetchHistory().catch(() => ({ events: [] }));
    return events?.some(({ timerStartedEventAttributes }) => timerStartedEventAttributes);
  });
  await served.serve(nodeTaskQueue(2), usual);
  expect(await got).toEqual(groupKey('pool-later.1'));
  expect(isBehind).toBe(false);
  expect(await runKeyGeneration(lost, 'generate-key-pooled-lost')).toEqual(groupKey(`${lost}.1`));
});

const fillKeyPool = () => {
  const { client } = served.temporal;
  const options = { workflowId: ids.fillKeyPoolWorkflowId, taskQueue: mainTaskQueue, args: [] };
  return client.workflow.start(ids.workflowTypes.fillKeyPool, options);
};

test('the pool is filled until no key is ordered any more: busy nodes are asked again under the same order, and a lost answer loses no key', async () => {
  const [offered, asked]: [string[], string[]] = [[], []];
  const orderPooledKey = ({ keyId }: { keyId: string }) => (offered.length === 2 ? null : { order: keyId });
  const offerPooledKey = ({ keyId }: { keyId: string }) => void offered.push(keyId);
  await served.serve(mainTaskQueue, {}, { runsWorkflows: true });
  await served.serve(authoriserTaskQueue, { orderPooledKey, offerPooledKey });
  const usual = nodeThatGenerates();
  const generateKey = (request: { order: string }) => {
    asked.push(request.order);
    if (asked.length === 1) throw new Error('the node signs');
    return asked.length === 3 ? permanently('invalid_parameter') : usual.generateKey(request);
  };
  for (const node of nodeIndexes) await served.serve(nodeTaskQueue(node), { ...usual, generateKey });
  const run = await fillKeyPool();
  await run.result();
  await recordRun(served.temporal.client, run.workflowId, 'fill-key-pool');
  expect(asked).toEqual([offered[0], ...offered]);
  expect(new Set(offered).size).toBe(2);
  for (const keyId of offered) expect(keyId).toMatch(/^pool-[0-9a-f-]{36}[.]1$/);
});

test('a key that the nodes refuse to generate is not offered, and no other is ordered for a while', async () => {
  const [offered, ordered]: [string[], string[]] = [[], []];
  await served.serve(mainTaskQueue, {}, { runsWorkflows: true });
  await served.serve(authoriserTaskQueue, {
    orderPooledKey: ({ keyId }: { keyId: string }) => {
      ordered.push(keyId);
      return { order: keyId };
    },
    offerPooledKey: ({ keyId }: { keyId: string }) => void offered.push(keyId),
  });
  const generateKey = () => permanently('order_refused');
  for (const node of nodeIndexes) await served.serve(nodeTaskQueue(node), { ...nodeThatGenerates(), generateKey });
  const run = await fillKeyPool();
  const { client } = served.temporal;
  const timer = await waitFor(
    async () => (await run.fetchHistory()).events?.flatMap((event) => event.timerStartedEventAttributes ?? [])[0],
  );
  expect(Number(timer.startToFireTimeout?.seconds)).toBe(300);
  await recordRun(client, run.workflowId, 'fill-key-pool-dropped', { isOpen: true });
  await run.terminate();
  expect(ordered).toHaveLength(1);
  expect(offered).toEqual([]);
});

test('a run of the pool of which no key is ordered rests, so that whoever counts otherwise does not start one after the other', async () => {
  await served.serve(mainTaskQueue, {}, { runsWorkflows: true });
  await served.serve(authoriserTaskQueue, { orderPooledKey: () => null });
  const run = await fillKeyPool();
  const timer = await waitFor(
    async () => (await run.fetchHistory()).events?.flatMap((event) => event.timerStartedEventAttributes ?? [])[0],
  );
  expect(Number(timer.startToFireTimeout?.seconds)).toBe(300);
  await recordRun(served.temporal.client, run.workflowId, 'fill-key-pool-not-ordered', { isOpen: true });
  await run.terminate();
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
