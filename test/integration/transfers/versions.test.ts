import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { findTemporalCli } from '../../../dev/temporal-cli';
import { WorkerVersions } from '../../../src/cli/worker-versions';
import { mainTaskQueue } from '../../../src/messages/task-queues';
import { readJournalsWorkflowId, transferWorkflowId, workflowTypes } from '../../../src/messages/workflow-ids';
import { workerVersion } from '../../../src/processes/worker-version';
import { workflowBundle } from '../../temporal';
import { booksAgree, type Build, ServedWorkflows, until } from './served';

/** Two builds of the worker on one Temporal server, of which the second has a step more; transfers wait for their block while builds change. */

jest.setTimeout(180_000);

const deploymentName = 'gateway';
const served = new ServedWorkflows();
const builds: Record<'1' | '2', Build> = { 1: {}, 2: {} };
let versions: WorkerVersions;

beforeAll(async () => {
  const workflowsPath = path.join(__dirname, 'second-build.ts');
  const bundles = { 1: workflowBundle, 2: await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') }) };
  for (const buildId of ['1', '2'] as const)
    builds[buildId] = {
      bundle: bundles[buildId],
      ...workerVersion({ TEMPORAL_DEPLOYMENT_NAME: deploymentName, TEMPORAL_WORKER_BUILD_ID: buildId }),
    };
  versions = new WorkerVersions(served.client, deploymentName);
}, 180_000);

/** Polls: a build is known when its workers have asked for work. */
const setCurrent = (build: '1' | '2') =>
  until(`build ${build} is current`, () =>
    versions.setCurrent(build).then(
      () => true,
      () => false,
    ),
  );

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
  const txId = await served.submit({ amount: '1' });
  await until('sent', async () => (await served.status(txId)) === 'SUBMITTED');
  return txId;
}

async function temporalCommand(...args: string[]): Promise<void> {
  const cli = await findTemporalCli(() => undefined);
  await promisify(execFile)(cli, [...args, '--address', served.temporal.address], { timeout: 30_000 });
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

  await served.serveBuild({}, builds[2]);
  await setCurrent('2');
  await until('the pinned run is counted', async () => {
    const [old] = await versions.list();
    return old?.state === 'draining' && old.pinned === 1;
  });
  const second = await submitted();
  answer();
  await pinned.result();
  expect(new Set(await stepsOf(pinned.workflowId))).toEqual(new Set(['1']));

  await served.ends(first, 'CONFIRMED');
  expect(await buildsOf(first)).toEqual(['1', '2']);

  // build 1 does not know the step that the second transfer has taken: it has to end on build 2
  await setCurrent('1');
  const third = await submitted();
  await temporalCommand(
    ...['workflow', 'update-options', '--yes', '--reason', 'roll-back'],
    ...['--query', `ExecutionStatus = 'Running' and TemporalWorkerDeploymentVersion = '${deploymentName}:2'`],
    ...['--versioning-override-behavior', 'pinned'],
    ...['--versioning-override-deployment-name', deploymentName, '--versioning-override-build-id', '2'],
  );
  for (const txId of [second, third]) await served.ends(txId, 'CONFIRMED');
  expect(await buildsOf(second)).toEqual(['patched', '2']);
  expect(await buildsOf(third)).toEqual(['1']);

  for (const txId of [first, second, third]) expect(await fixture.attempts(txId)).toHaveLength(1);
  expect(await fixture.balance(fixture.alice, 'USDC')).toEqual({ available: 2_000_000n, locked: 0n });
  await booksAgree(fixture);
});
