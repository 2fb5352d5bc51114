import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { withMappedErrors } from '../../../activities/errors';
import { createWalletActivities } from '../../../activities/wallet';
import { authoriserTaskQueue, mainTaskQueue } from '../../../src/messages/task-queues';
import { generateKeyWorkflowId } from '../../../src/messages/workflow-ids';
import { keyGenerationOn } from '../../../src/wallets/key-generation';
import { createFixture, type Fixture } from '../ledger/fixture';
import { recordRun } from '../../replay/record-run';
import { startTemporal, workflowBundle } from '../../temporal';

jest.setTimeout(120_000);

const silent = { child: () => silent, warn() {}, error() {}, info() {} } as never;
let fixture: Fixture;
let temporal: TestWorkflowEnvironment;
beforeAll(async () => {
  [temporal, fixture] = await Promise.all([startTemporal(), createFixture({ poolSize: 5 })]);
});
afterAll(async () => {
  await temporal.teardown();
  await fixture.close();
});

test('a run whose wallet has got its key from another run ends, and the wallet keeps its key', async () => {
  const { database, ledger, client } = fixture;
  const { walletId, keyId } = fixture.wallet;
  const common = { connection: temporal.nativeConnection, namespace: temporal.namespace };
  const workers = await Promise.all([
    Worker.create({
      ...common,
      workflowBundle,
      taskQueue: mainTaskQueue,
      activities: withMappedErrors(createWalletActivities(database), silent),
    }),
    Worker.create({
      ...common,
      taskQueue: authoriserTaskQueue,
      activities: withMappedErrors({ ...ledger }, silent),
    }),
  ]);
  const running = Promise.all(workers.map((worker) => worker.run()));
  try {
    await keyGenerationOn(temporal.client).start({ walletId, clientId: client.clientId });
    expect(await temporal.client.workflow.getHandle(generateKeyWorkflowId(walletId)).result()).toBeNull();
    await recordRun(temporal.client, generateKeyWorkflowId(walletId), 'generate-key-already-active');
  } finally {
    for (const worker of workers) worker.shutdown();
    await running;
  }
  expect(await database.query('select key_id from wallets where wallet_id = $1', [walletId])).toEqual([{ key_id: keyId }]);
  expect(await database.query('select 1 from orders')).toEqual([]);
});
