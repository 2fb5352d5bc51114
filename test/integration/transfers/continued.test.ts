import { ApplicationFailure } from '@temporalio/common';
import { transferWorkflowId } from '../../../src/messages/workflow-ids';
import { chainObservedSignal } from '../../../src/messages/transfer';
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
