import { ApplicationFailure } from '@temporalio/common';
import { transferWorkflowId } from '../../../src/messages/workflow-ids';
import { transferWorkflowsOn } from '../../../src/transfers/start/workflows';
import type { FollowFixture } from '../following/fixture';
import { booksAgree, ServedWorkflows, until } from './served';

/** A client cancels while the run of its transfer is at one of the places before signing has begun. */

jest.setTimeout(120_000);

const served = new ServedWorkflows(() => booksAgree(fixture));
let fixture: FollowFixture;
beforeEach(() => {
  fixture = served.fixture;
});

const workflows = () => transferWorkflowsOn(served.client);
const cancel = (txId: string) => fixture.ledger.cancelTransfer({ txId });
/** As POST /transactions/{tx_id}/cancel does, with the signal of its outbox row. */
const cancelAndSignal = async (txId: string): Promise<void> => {
  await cancel(txId);
  expect(await workflows().signal(txId, 'ended')).toBe('sent');
};
const suspendWallet = () => fixture.database.query(`update wallets set status = 'SUSPENDED'`);

/** The run ends with the client's cancellation, and nothing was begun. */
async function endsCancelled(txId: string, name: string): Promise<void> {
  const run = served.client.workflow.getHandle(transferWorkflowId(txId));
  expect(await run.result()).toEqual({ txId, status: 'CANCELLED', code: null });
  expect(await fixture.attempts(txId)).toEqual([]);
  await served.record(transferWorkflowId(txId), name);
}

test('while the chain is asked for fees: the run does not wait for the answer', async () => {
  let answer: () => void = () => undefined;
  const answered = new Promise<void>((resolve) => (answer = resolve));
  let isAsked = false;
  await served.serve({
    chain: {
      prepareAttempt: async (input) => {
        isAsked = true;
        await answered;
        return fixture.onChain.prepareAttempt(input);
      },
    },
  });
  try {
    const txId = await served.submit();
    await until('asked', () => Promise.resolve(isAsked));
    await cancelAndSignal(txId);
    await endsCancelled(txId, 'transfer-cancelled-preparing');
  } finally {
    answer();
  }
});

test('between the answer of the chain and the begin of signing: the authoriser begins nothing', async () => {
  await served.serve({
    authoriser: {
      beginSigning: async (input) => {
        await cancel(input.txId);
        return fixture.ledger.beginSigning(input);
      },
    },
  });
  await endsCancelled(await served.submit(), 'transfer-cancelled-before-signing');
});

test('while signing is not possible yet: the next try is not waited for', async () => {
  await served.serve({
    chain: {
      prepareAttempt: async (input) => {
        const prepared = await fixture.onChain.prepareAttempt(input);
        return { ...prepared, feeBound: (50n * BigInt(prepared.feeBound)).toString() };
      },
    },
  });
  const txId = await served.submit();
  await until('waiting', async () => Boolean((await workflows().live(txId))?.detail.includes('usual is')));
  await cancelAndSignal(txId);
  await endsCancelled(txId, 'transfer-cancelled-waiting-to-begin');
});

test('while a rule refuses it: the cancellation came first', async () => {
  await served.serve({
    ledger: {
      screenTransfer: async (input) => {
        await suspendWallet();
        const verdict = await fixture.ledger.screenTransfer(input);
        await cancel(input.txId);
        return verdict;
      },
    },
  });
  await endsCancelled(await served.submit(), 'transfer-cancelled-while-refused');
});

test('while it is parked before anything was begun', async () => {
  await served.serve({
    authoriser: {
      beginSigning: () => {
        throw ApplicationFailure.create({ type: 'not_found', message: 'gone', nonRetryable: true });
      },
    },
  });
  const txId = await served.submit();
  await until('parked', async () => (await workflows().live(txId))?.step === 'park');
  await cancelAndSignal(txId);
  await endsCancelled(txId, 'transfer-cancelled-parked');
});
