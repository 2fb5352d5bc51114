import { WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { type History, readRun } from '../../../dev/replay/history';
import { replay } from '../../../dev/replay/replay';
import { listRuns, readHistory } from '../../../src/cli/transfer-history';
import { statusQuery } from '../../../src/messages/progress';
import { transferWorkflowId } from '../../../src/messages/workflow-ids';
import { abandonUpdate, chainObservedSignal, retryUpdate } from '../../../src/messages/transfer';
import { GatewayError } from '../../../src/platform/errors';
import { booksAgree, ServedWorkflows, until } from './served';

/** A transfer whose history has become long. */

jest.setTimeout(120_000);

const served = new ServedWorkflows(undefined, { suggestContinueAfter: 60 });

test('continues in a new run while it waits for the chain, and is settled there', async () => {
  const { fixture } = served;
  await served.serve();
  const txId = await served.submit();
  await until('sent', async () => (await served.status(txId)) === 'SUBMITTED');
  const newest = served.client.workflow.getHandle(transferWorkflowId(txId));
  const { runId } = await newest.describe();
  const included = { state: 'included', hash: null, blockNumber: null, confirmations: 0 } as const;
  await until('continued', async () => {
    await newest.signal(chainObservedSignal, included);
    return (await newest.describe()).runId !== runId;
  });
  await served.ends(txId, 'CONFIRMED');
  expect(await newest.result()).toEqual({ txId, status: 'CONFIRMED', code: null });
  expect((await fixture.attempts(txId)).map(({ attempt }) => attempt)).toContain(1);
  await booksAgree(fixture);
  await served.record(transferWorkflowId(txId), 'transfer-continued', { runId });
  await served.record(transferWorkflowId(txId), 'transfer-confirmed-continued');

  // as an operator reads them, and `npm run replay` does; lists of Temporal show a run some time later
  const listed = async () => (await listRuns(served.client, txId)).map(({ run_id, status }) => ({ run_id, status }));
  const { runId: last } = await newest.describe();
  await until('all runs are listed as ended', async () => {
    const runs = await listed();
    return runs[0]?.run_id === last && runs.length > 1 && runs.every(({ status }) => status !== 'RUNNING');
  });
  // two, or more on a slow machine, where it is signalled more often
  const [completed, ...continued] = await listed();
  expect(completed).toEqual({ run_id: last, status: 'COMPLETED' });
  expect(continued.at(-1)).toEqual({ run_id: runId, status: 'CONTINUED_AS_NEW' });
  for (const { status } of continued) expect(status).toBe('CONTINUED_AS_NEW');
  for (const [run, end] of [
    [undefined, 'CONFIRMED'],
    [runId, 'continued'],
  ] as const) {
    const history = JSON.parse(await readHistory(served.client, txId, run)) as History;
    expect(readRun(history).end).toBe(end);
    expect(await replay(history)).toBeUndefined();
  }
  await expect(readHistory(served.client, txId, '0190b5a4-0000-7000-8000-0000000000f1')).rejects.toMatchObject({
    code: 'not_found',
  });
});

test('a parked transfer that is retried again and again continues in a new run; what is refused leaves nothing in its history', async () => {
  let isRefused = true;
  await served.serve({
    sign: () => {
      if (isRefused) throw ApplicationFailure.create({ type: 'intent_mismatch', message: 'no', nonRetryable: true });
    },
  });
  const txId = await served.submit({ amount: '1' });
  const newest = served.client.workflow.getHandle(transferWorkflowId(txId));
  const isParked = () => until('parked', async () => (await newest.query(statusQuery)).step === 'park');
  const runs: string[] = [];
  for (let times = 0; times < 12; times += 1) {
    await isParked();
    const { runId } = await newest.describe();
    if (runs.at(-1) !== runId) runs.push(runId);
    await newest.executeUpdate(retryUpdate).catch((error: unknown) => {
      // it has just gone on in another run, which has not parked it yet
      if (!(error instanceof WorkflowUpdateFailedError)) throw error;
    });
  }
  expect(runs.length).toBeGreaterThan(1);
  await served.record(transferWorkflowId(txId), 'transfer-parked-continued', { runId: runs[0] });
  await isParked();
  isRefused = false;
  // refused while the run that has gone on writes that it is parked
  await until('retried', () =>
    served.operations.retry(txId).then(
      (answer) => answer === 'retrying',
      (error: unknown) => {
        if (!(error instanceof GatewayError && error.code === 'business_error')) throw error;
        return false;
      },
    ),
  );
  await until('followed', async () => (await newest.query(statusQuery)).step === 'confirm');
  // so that nothing is replaced meanwhile
  await served.fixture.mine();
  for (let times = 0; times < 50; times += 1)
    await expect(newest.executeUpdate(abandonUpdate)).rejects.toMatchObject({ cause: { type: 'business_error' } });
  const { events } = await newest.fetchHistory();
  const accepted = events?.filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes) ?? [];
  // none but the retry
  expect(accepted.length).toBeLessThan(2);
  await served.ends(txId, 'CONFIRMED');
  await newest.result();
});

test('continues in a new run while it waits behind a parked transfer, and is signed there', async () => {
  let parked: string | undefined;
  let isRefused = true;
  let isBehind = false;
  await served.serve({
    ledger: {
      readTurn: async (input) => {
        const turn = await served.fixture.ledger.readTurn(input);
        isBehind ||= turn.outcome === 'behind';
        return turn;
      },
    },
    sign: ({ tx_id: txId }) => {
      if (txId === (parked ??= txId) && isRefused)
        throw ApplicationFailure.create({ type: 'intent_mismatch', message: 'no', nonRetryable: true });
    },
  });
  const head = await served.submit({ amount: '1' });
  await until('parked', async () => (await served.status(head)) === 'NEEDS_ATTENTION');
  const txId = await served.submit({ amount: '1' });
  const newest = served.client.workflow.getHandle(transferWorkflowId(txId));
  const { runId } = await newest.describe();
  await until('it waits for its turn', () => Promise.resolve(isBehind));
  const outdated = { state: 'absent', hash: null, blockNumber: null, confirmations: 0 } as const;
  await until('continued', async () => {
    await newest.signal(chainObservedSignal, outdated);
    return (await newest.describe()).runId !== runId;
  });
  expect(await served.fixture.attempts(txId)).toEqual([]);
  isRefused = false;
  await served.operations.retry(head);
  for (const id of [head, txId]) await served.ends(id, 'CONFIRMED');
  await served.record(transferWorkflowId(txId), 'transfer-behind-parked-continued', { runId });
});
