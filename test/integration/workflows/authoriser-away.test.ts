import type { AuthoriserActivities } from '../../../src/messages/authoriser';
import { nodeIndexes } from '../../../src/messages/nodes';
import { authoriserTaskQueue, mainTaskQueue, nodeTaskQueue } from '../../../src/messages/task-queues';
import { workflowTypes } from '../../../src/messages/workflow-ids';
import { waitFor } from '../../stack/client';
import { ServedActivities } from './served';
import { nodeThatGenerates } from './stand-ins';

/** What the Temporal UI shows of each workflow that asks the authoriser, while the authoriser is away. Transfers: transfers/workflow.test.ts. */

jest.setTimeout(120_000);

const served = new ServedActivities();

/** What the authoriser still does: everything else fails, and is asked for again without an end. */
type Answers = Partial<Record<keyof AuthoriserActivities, (input: never) => unknown>>;
const away = () => {
  throw new Error('away');
};
const nothing = {
  ...{ takePooledKey: away, orderPooledKey: away, offerPooledKey: away, orderKeyGeneration: away, orderKeyBinding: away },
  ...{ orderAccountKey: away, orderAccountKeyBinding: away, orderBlacklistPage: away },
};

const walletId = '0190b5a4-0000-7000-8000-00000000aba1';
const forWallet = { walletId, clientId: 'client', keyId: 'key' };
const forAccount = { accountId: walletId, keyId: 'key', isBindingOrdered: false };
const order = ({ keyId }: { keyId: string }) => ({ order: keyId });
const once = (answer: (input: never) => unknown) => {
  let isFirst = true;
  return (input: never) => {
    if (!isFirst) return away();
    isFirst = false;
    return answer(input);
  };
};
const notPooled = { takePooledKey: () => null };

let runs = 0;
/** Starts a run, with nodes that do all they are asked for. */
async function start(type: string, input: object, answers: Answers, bindKey: () => unknown = nodeThatGenerates().bindKey) {
  await served.serve(mainTaskQueue, { activateWallet: () => undefined }, { runsWorkflows: true });
  await served.serve(authoriserTaskQueue, { ...nothing, ...answers });
  const blacklist = { blacklistVersion: () => ({ version: 0 }), applyBlacklist: () => ({ version: 1 }) };
  for (const node of nodeIndexes) await served.serve(nodeTaskQueue(node), { ...nodeThatGenerates(), ...blacklist, bindKey });
  runs += 1;
  const options = { workflowId: `of-a-test-${runs}`, taskQueue: mainTaskQueue, args: [input] };
  return served.temporal.client.workflow.start(type, options);
}
type Run = Awaited<ReturnType<typeof start>>;

const shownBy = async (run: Run): Promise<string> =>
  (await run.query<{ currentDetails?: string }>('__temporal_workflow_metadata')).currentDetails ?? '';

/** Waits until the authoriser has failed to answer, is asked again, and the run shows this. */
async function untilShownWithout(run: Run, expected: string): Promise<void> {
  try {
    await waitFor(async () => {
      const { raw } = await run.describe();
      const isAskedAgain = raw.pendingActivities?.some(({ attempt, lastFailure }) => (attempt ?? 0) > 1 && lastFailure);
      return isAskedAgain && (await shownBy(run)).startsWith(expected);
    });
  } finally {
    // the workers of the next test would run it
    await run.terminate();
  }
}

test.each<[asked: string, type: string, input: object, purpose: string, answers: Answers]>([
  ['for a key of the pool', workflowTypes.generateKey, forWallet, 'give the wallet a key of the pool', {}],
  [
    'to bind a key of the pool',
    ...([workflowTypes.generateKey, forWallet, 'order that a node binds the key'] as const),
    { takePooledKey: () => ({ keyId: 'pool.1' }) },
  ],
  ['for a key', workflowTypes.generateKey, forWallet, 'order a new key', notPooled],
  [
    'for the test signatures of a key',
    ...([workflowTypes.generateKey, forWallet, 'order a test signature'] as const),
    { ...notPooled, orderKeyGeneration: once(order) },
  ],
  [
    'to bind a key',
    ...([workflowTypes.generateKey, forWallet, 'order that a node binds the key'] as const),
    { ...notPooled, orderKeyGeneration: order },
  ],
  ['for a key of an account', workflowTypes.generateAccountKey, forAccount, 'order the key', {}],
  [
    'to bind a key of an account',
    ...([workflowTypes.generateAccountKey, forAccount, 'order that a node binds the key', { orderAccountKey: order }] as const),
  ],
  ['for a key of nobody yet', workflowTypes.fillKeyPool, {}, 'order a key for the pool', {}],
  ['to take such a key', workflowTypes.fillKeyPool, {}, 'add the key to the pool', { orderPooledKey: order }],
  ['for a list', workflowTypes.distributeBlacklist, forWallet, 'order the changes for node 1 and 2 and 3', {}],
  ['to bind a key again', workflowTypes.bindKeyAgain, forWallet, 'order for each node that it binds the key', {}],
])('asked %s, %s says so', async (_asked, type, input, purpose, answers) => {
  const run = await start(type, input, answers);
  const advice = 'If this stays, it is down: start it, docs/runbook/alerts.md#processmissing';
  await untilShownWithout(run, `**Waits for the authoriser** to ${purpose}. ${advice}\n\nStep: `);
});

test('once it has answered, the nodes are what is waited for', async () => {
  const answers = { ...notPooled, orderKeyGeneration: order, orderKeyBinding: order };
  let release = (): void => undefined;
  let isAsked = false;
  const released = new Promise<void>((resolve) => (release = resolve));
  const bindKey = async () => {
    isAsked = true;
    await released;
    return away();
  };
  const run = await start(workflowTypes.generateKey, forWallet, answers, bindKey);
  try {
    await waitFor(() => isAsked);
    expect(await shownBy(run)).toMatch(/^\*\*Every node binds the key to the wallet\.\*\* .*#signingnodenotready/);
  } finally {
    release();
    await run.terminate();
  }
});

test('a list waits for the authoriser on behalf of one node, and for another one that is down', async () => {
  await served.serve(mainTaskQueue, {}, { runsWorkflows: true });
  await served.serve(nodeTaskQueue(2), { blacklistVersion: () => ({ version: 0 }) });
  const options = { workflowId: 'of-a-test', taskQueue: mainTaskQueue, args: [{ clientId: 'client' }] };
  const run = await served.temporal.client.workflow.start(workflowTypes.distributeBlacklist, options);
  await waitFor(async () =>
    /^\*\*Waits for the authoriser\*\* to order the changes for node 2\. .*\. \*\*Waits for node 1 and 3\*\* to take/.test(
      await shownBy(run),
    ),
  );
  await run.terminate();
});
