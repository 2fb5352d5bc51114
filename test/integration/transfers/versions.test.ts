import path from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { listAuditLog } from '../../../src/audit/list';
import { PinnedRuns } from '../../../src/cli/pinned-runs';
import { CommandFailed } from '../../../src/cli/session';
import { queuesWithoutWorker } from '../../../src/cli/queue-workers';
import { WorkerVersions } from '../../../src/cli/worker-versions';
import { chainTaskQueue, mainTaskQueue, workerQueues } from '../../../src/messages/task-queues';
import { readJournalsWorkflowId, transferWorkflowId, workflowTypes } from '../../../src/messages/workflow-ids';
import { workerVersion } from '../../../src/processes/worker-version';
import { observationSignaller } from '../../../src/transfers/start/workflows';
import { workflowBundle } from '../../temporal';
import { booksAgree, type Build, createFundedFixture, ServedChain, until } from './served';

/** Two builds of the worker on one Temporal server, of which the second has a step more; transfers wait for their block while builds change. */

jest.setTimeout(180_000);

const deploymentName = 'gateway';
/** Nothing is sent again with a higher fee while a transfer waits. */
const served = new ServedChain(() => createFundedFixture(600_000));
const builds: Record<'1' | '2', Build> = { 1: {}, 2: {} };
let versions: WorkerVersions;
let pins: PinnedRuns;

beforeEach(() => {
  const { client, fixture } = served;
  versions = new WorkerVersions(fixture.database, client, deploymentName);
  pins = new PinnedRuns(fixture.database, client, deploymentName);
});
beforeAll(async () => {
  const workflowsPath = path.join(__dirname, 'second-build.ts');
  const bundles = { 1: workflowBundle, 2: await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') }) };
  for (const buildId of ['1', '2'] as const)
    builds[buildId] = {
      bundle: bundles[buildId],
      ...workerVersion({ TEMPORAL_DEPLOYMENT_NAME: deploymentName, TEMPORAL_WORKER_BUILD_ID: buildId }),
    };
}, 180_000);

/** No workers of this file serve the others. */
const queues = () => {
  const { name: chain } = served.fixture.chain;
  return workerQueues([chain]).filter(({ name }) => [mainTaskQueue, chainTaskQueue(chain)].includes(name));
};
const setCurrent = (build: '1' | '2') => versions.setCurrent(build, queues(), 30_000);

/** The build of each step of a run, in order; `patched` where the second build's step was taken. */
async function stepsOf(workflowId: string): Promise<string[]> {
  const { events } = await served.client.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).flatMap(({ workflowTaskCompletedEventAttributes: completed, markerRecordedEventAttributes: marker }) => {
    if (marker?.markerName === 'core_patch') return ['patched'];
    return completed ? [completed.deploymentVersion?.buildId ?? 'none'] : [];
  });
}

const buildsOf = async (txId: string) => [...new Set(await stepsOf(transferWorkflowId(txId)))];

async function submitted(): Promise<string> {
  const txId = await served.submit({ tokenSymbol: 'USDC', amount: '1', toAddress: served.fixture.bob.address });
  await until('sent', async () => (await served.status(txId)) === 'SUBMITTED');
  return txId;
}

/** Of everybody who has decided which build gets the work, oldest first. */
const decisions = async (subject: string) =>
  (await listAuditLog(served.fixture.database.manager, { subject, limit: 50 }))
    .map(({ action, outcome, detail }) => [action, outcome, detail.build ?? detail.percent])
    .reverse();

/**
 * Tells the transfer that nothing has changed, until a build has taken a step of it. The queue of the worker that has it in its cache learns of a
 * new current build by itself, some seconds after the others on a slow machine, and until then that worker may take a step more.
 */
const movedTo = (build: string, txId: string) =>
  until(`a step of build ${build}`, async () => {
    await observationSignaller(served.client)(txId, { state: 'absent', hash: null, blockNumber: null, confirmations: 0 });
    return (await buildsOf(txId)).includes(build);
  });

/** Mines, and tells the transfer what the chain says, until it has ended. */
async function confirmed(txId: string): Promise<void> {
  const signalTransfer = observationSignaller(served.client);
  await until('confirmed', async () => {
    await served.fixture.mine();
    await served.fixture.follow({ signalTransfer });
    return (await served.status(txId)) === 'CONFIRMED';
  });
}

test('transfers that wait go on where the current build is, pinned runs end where they began, and a roll-back takes new ones back', async () => {
  const { fixture } = served;
  let answer = () => {};
  const answered = new Promise<void>((resolve) => (answer = resolve));
  await served.serveOthers({
    node: () => ({
      readJournal: async () => {
        await answered;
        return { node: 1, payload: '', signature: '' } as never;
      },
    }),
  });
  const chain = fixture.chain.name;
  await expect(versions.setCurrent('1', queues())).rejects.toThrow(
    `no workers of build 1 ask for work on these task queues, where work would wait: ${mainTaskQueue} (workflow), ${mainTaskQueue} (activity), chain-${chain} (activity)`,
  );
  await served.serveBuild({}, builds[1]);
  await setCurrent('1');

  const first = await submitted();
  const request = { txId: first, nonce: 'a'.repeat(32) };
  const pinned = await served.client.workflow.start(workflowTypes.readJournals, {
    taskQueue: mainTaskQueue,
    workflowId: readJournalsWorkflowId(request),
    args: [request],
  });
  await until('the nodes are asked', async () => (await stepsOf(pinned.workflowId)).length > 0);

  const [run, unpinned] = [transferWorkflowId(first), { runs: [first], reason: undefined }];
  const ended = (message: string) => ({ runs: [], moved: [], isComplete: false, failure: new CommandFailed(message) });
  expect(await pins.unpin({ ...unpinned, build: '1' })).toEqual(ended(`the run ${run} is not pinned to build 1`));
  expect(await pins.pin({ build: '1', runs: [first], reason: 'upgrade' })).toMatchObject({ runs: [run], moved: [] });
  // it is another build that is to be left
  expect(await pins.unpin({ ...unpinned, build: '2' })).toEqual(ended(`the run ${run} is not pinned to build 2`));
  // what its workflow pins is no operator's
  expect(await pins.unpin({ build: '1', runs: [pinned.workflowId], reason: undefined })).toEqual(
    ended(`the run ${pinned.workflowId} is not pinned to build 1`),
  );
  expect(await pins.unpin({ ...unpinned, build: '1' })).toMatchObject({ runs: [run] });
  // what was done before it was ended is told
  expect(await pins.pin({ build: '1', runs: [first, 'nothing'], reason: undefined })).toEqual({
    ...ended('there is no open run nothing'),
    runs: [run],
  });
  expect(await pins.unpin({ ...unpinned, build: '1' })).toMatchObject({ runs: [run], failure: null });
  expect(await decisions(run)).toEqual(
    ['workflow.pinned', 'workflow.unpinned', 'workflow.pinned', 'workflow.unpinned'].map((action) => [action, 'success', '1']),
  );

  // those of build 1 do not count
  await expect(versions.setCurrent('2', queues())).rejects.toThrow('no workers of build 2 ask');
  await served.serveBuild({}, builds[2]);
  await until('build 2 asks', async () => {
    const missing = await queuesWithoutWorker(served.client, queues(), { deploymentName, buildId: '2' });
    return missing.length === 0;
  });
  await expect(versions.setCurrent('2', workerQueues([chain]), 5_000)).rejects.toThrow(
    `no workers of build 2 ask for work on these task queues, where work would wait: webhooks (workflow), webhooks (activity), follow-${chain} (activity)`,
  );
  await setCurrent('2');
  await until('the pinned run is counted', async () => {
    const [old] = await versions.list();
    return old?.state === 'draining' && old.pinned === 1;
  });
  const second = await submitted();
  answer();
  await pinned.result();
  expect(new Set(await stepsOf(pinned.workflowId))).toEqual(new Set(['1']));

  await movedTo('2', first);
  await confirmed(first);
  expect(await buildsOf(first)).toEqual(['1', '2']);

  await confirmed(second);
  expect(await buildsOf(second)).toEqual(['2', 'patched']);

  await setCurrent('1');
  const third = await submitted();
  await confirmed(third);
  expect(await buildsOf(third)).toEqual(['1']);

  for (const txId of [first, second, third]) expect(await fixture.attempts(txId)).toHaveLength(1);
  expect(await fixture.balance(fixture.alice, 'USDC')).toEqual({ available: 2_000_000n, locked: 0n });
  await booksAgree(fixture);

  await versions.setRamp('2', 0, queues());
  expect(await decisions('2')).toEqual([
    ...['success', 'refused', 'success', 'refused', 'success'].map((outcome) => [
      'worker_build.made_current',
      outcome,
      undefined,
    ]),
    ['worker_build.ramped', 'success', 0],
  ]);
});
