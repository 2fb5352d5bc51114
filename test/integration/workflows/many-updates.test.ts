import type { ChainObservation, HeldTransfer } from '../../../src/messages/transfer';
import { retryUpdate } from '../../../src/messages/transfer';
import { chainTaskQueue, mainTaskQueue } from '../../../src/messages/task-queues';
import * as ids from '../../../src/messages/workflow-ids';
import { until } from '../transfers/served';
import { ServedActivities } from './served';
import { followedTransfer } from './stand-ins';

/** A run takes 2,000 updates of Temporal, and then none: an operator would not reach its transfer any more. */

jest.setTimeout(180_000);

// not for the length of its history
const served = new ServedActivities({ suggestContinueAfter: 50_000 });
/** That Temporal takes of a run at the same time. */
const atOnce = 10;

test('a transfer that is retried 500 times while it waits for the chain goes on in a new run, and takes further retries', async () => {
  const transfer: HeldTransfer = followedTransfer;
  const pending: ChainObservation = { state: 'pending', hash: '0x01', blockNumber: null, confirmations: 0 };
  const main = { adoptHold: () => ({ outcome: 'held', transfer }), recordOperatorAct: () => undefined };
  await served.serve(mainTaskQueue, main, { runsWorkflows: true });
  await served.serve(chainTaskQueue(transfer.chain), { observe: () => pending });
  const txId = '0190b5a4-0000-7000-8000-0000000000e1';
  const { workflow } = served.temporal.client;
  const handle = await workflow.start(ids.workflowTypes.transfer, {
    ...{ workflowId: ids.transferWorkflowId(txId), taskQueue: mainTaskQueue, args: [{ txId }] },
  });
  const newest = workflow.getHandle(handle.workflowId);
  const retry = () => newest.executeUpdate(retryUpdate).catch(() => undefined);
  const isContinued = async () => (await newest.describe()).runId !== handle.firstExecutionRunId;
  const first = workflow.getHandle(handle.workflowId, handle.firstExecutionRunId);
  const accepted = async () =>
    ((await first.fetchHistory()).events ?? []).filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes).length;
  try {
    for (let sent = 0; sent < 700 && !(await isContinued()); sent += atOnce)
      await Promise.all(Array.from({ length: atOnce }, retry));
    await until('it goes on in a new run', isContinued);
    expect(await accepted()).toBeGreaterThanOrEqual(500);
    expect(await accepted()).toBeLessThanOrEqual(500 + atOnce);
    await until('the new run takes a retry', async () => (await retry()) !== undefined);
  } finally {
    await newest.terminate();
  }
});
