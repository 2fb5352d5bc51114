import { ApplicationFailure } from '@temporalio/common';
import { getFamily } from '../../../src/chains/families';
import type { Hex } from '../../../src/chains/types';
import { mainTaskQueue } from '../../../src/messages/task-queues';
import type { OrderedAttempt } from '../../../src/messages/transfer';
import { transferWorkflowId, workflowTypes } from '../../../src/messages/workflow-ids';
import { GatewayError } from '../../../src/platform/errors';
import { newId } from '../../../src/platform/ids';
import { transferWorkflowsOn } from '../../../src/transfers/start/workflows';
import type { FollowFixture } from '../following/fixture';
import { prepared } from '../ledger/fixture';
import { listAddress, setPolicy } from '../screening/factors';
import { booksAgree, ServedWorkflows, until } from './served';

/** What the authoriser answers about the first attempt of a transfer, and where its workflow goes from there. */

jest.setTimeout(120_000);

const served = new ServedWorkflows(() => booksAgree(fixture));
let fixture: FollowFixture;
beforeEach(() => {
  fixture = served.fixture;
});

const handleOf = (txId: string) => served.client.workflow.getHandle(transferWorkflowId(txId));
const record = (txId: string, name: string) => served.record(transferWorkflowId(txId), name);
const kinds = async (txId: string) => (await fixture.attempts(txId)).map(({ kind }) => kind);
const is = (txId: string, wanted: string) => until(`${txId} is ${wanted}`, async () => (await served.status(txId)) === wanted);

test('a fee above the absolute cap of the chain: FAILED and unlocked', async () => {
  const feeBound = (fixture.chain.maxNetworkFee + 1n).toString();
  await served.serve({
    chain: { prepareAttempt: async (input) => ({ ...(await fixture.onChain.prepareAttempt(input)), feeBound }) },
  });
  const txId = await served.submit();
  await expect(handleOf(txId).result()).rejects.toMatchObject({ cause: { type: 'fee_above_bound' } });
  expect(await fixture.transaction(txId)).toMatchObject({ status: 'FAILED', signing_begun_at: null });
  await record(txId, 'transfer-failed-fee-above-bound');
});

test('a chain that does not say what it would take, in words that nobody knows: asked again for some time, then parked unsigned; a later try, without an operator, goes on', async () => {
  let isRefused = true;
  let asked = 0;
  await served.serve({
    chain: {
      prepareAttempt: (input) => {
        asked += 1;
        if (isRefused) throw new GatewayError('not_estimated', 'The nodes could not estimate it (code -32000)');
        return fixture.onChain.prepareAttempt(input);
      },
    },
  });
  const [txId, cancelled] = [await served.submit({ amount: '2' }), await served.submit({ amount: '2' })];
  await is(txId, 'NEEDS_ATTENTION');
  await is(cancelled, 'NEEDS_ATTENTION');
  expect(await fixture.transaction(txId)).toMatchObject({ failure_code: 'not_estimated', signing_begun_at: null });
  expect(asked).toBeGreaterThan(3);
  const before = asked;
  // well before it is tried again by itself
  await new Promise((resolve) => setTimeout(resolve, fixture.chain.stuckAfterMs));
  expect(asked).toBe(before);
  await fixture.ledger.cancelTransfer({ txId: cancelled });
  await transferWorkflowsOn(served.client).signal(cancelled, 'ended');
  expect(await handleOf(cancelled).result()).toMatchObject({ status: 'CANCELLED' });
  isRefused = false;
  await served.ends(txId, 'CONFIRMED');
  await handleOf(txId).result();
  await record(txId, 'transfer-confirmed-not-estimated');
});

test('the same where blocks are slow: it goes on once the chain says it', async () => {
  let asked = 0;
  const stuckAfterMs = 60 * 60_000;
  await served.serve({
    ledger: {
      adoptHold: async (input) => {
        const adopted = await fixture.ledger.adoptHold(input);
        return adopted.outcome === 'held' ? { ...adopted, transfer: { ...adopted.transfer, stuckAfterMs } } : adopted;
      },
    },
    chain: {
      prepareAttempt: (input) => {
        asked += 1;
        if (asked < 3) throw new GatewayError('not_estimated', 'The nodes could not estimate it (code -32000)');
        return fixture.onChain.prepareAttempt(input);
      },
    },
  });
  const txId = await served.submit();
  await served.ends(txId, 'CONFIRMED');
  await handleOf(txId).result();
  await record(txId, 'transfer-confirmed-estimated-later');
});

test('an approval that the client has come to require: it is waited for, and signing begins once it is not required any more', async () => {
  let isRequired = false;
  await served.serve({
    chain: {
      prepareAttempt: async (input) => {
        if (!isRequired) await setPolicy(fixture.database, fixture.alice, 'approve');
        isRequired = true;
        return fixture.onChain.prepareAttempt(input);
      },
    },
  });
  const txId = await served.submit();
  await until('it waits', async () => Boolean((await transferWorkflowsOn(served.client).live(txId))?.detail.includes('approve')));
  expect(await served.status(txId)).toBe('AWAITING_APPROVAL');
  await setPolicy(fixture.database, fixture.alice, 'off');
  await transferWorkflowsOn(served.client).signal(txId, 'approved');
  await served.ends(txId, 'CONFIRMED');
  await record(txId, 'transfer-confirmed-approval-at-signing');
});

test('an approval that nobody gives: the run itself finds that its time is over', async () => {
  const expire = `update transactions set approval_expires_at = now() + interval '500 milliseconds' where tx_id = $1`;
  await served.serve({
    ledger: {
      screenTransfer: async (input) => {
        const verdict = await fixture.ledger.screenTransfer(input);
        if (verdict.outcome !== 'awaiting_approval') return verdict;
        await fixture.database.query(expire, [input.txId]);
        return { ...verdict, waitMs: 500 };
      },
    },
  });
  await setPolicy(fixture.database, fixture.alice, 'approve');
  const txId = await served.submit();
  expect(await handleOf(txId).result()).toEqual({ txId, status: 'REJECTED', code: 'approval_expired' });
  await record(txId, 'transfer-rejected-approval-expired-in-run');
});

test('an answer that was lost: the attempt that has begun is resumed', async () => {
  let isLost = true;
  await served.serve({
    authoriser: {
      beginSigning: async (input) => {
        const answer = await fixture.ledger.beginSigning(input);
        if (isLost) {
          isLost = false;
          throw ApplicationFailure.create({ type: 'unavailable', message: 'its answer was lost' });
        }
        return answer;
      },
    },
  });
  const txId = await served.submit();
  await served.ends(txId, 'CONFIRMED');
  expect(await kinds(txId)).toEqual(['first']);
  await record(txId, 'transfer-confirmed-answer-lost');
});

test('an order that is about to expire is renewed before a node gets it', async () => {
  const asked: string[] = [];
  await served.serve({
    authoriser: {
      beginSigning: async (input) => {
        asked.push(input.kind);
        const answer = await fixture.ledger.beginSigning(input);
        return answer.outcome === 'begun' && input.kind === 'first' ? { ...answer, expiresAtMs: Date.now() } : answer;
      },
    },
  });
  const txId = await served.submit();
  await served.ends(txId, 'CONFIRMED');
  expect(asked).toEqual(['first', 'resume']);
  await record(txId, 'transfer-confirmed-order-renewed');
});

describe('an order that is renewed too late', () => {
  /** The first order is about to expire; `meanwhile` happens before another one is asked for. */
  const serveMeanwhile = async (meanwhile: (txId: string, unsigned: Hex) => Promise<unknown>): Promise<string> => {
    let first: OrderedAttempt | undefined;
    await served.serve({
      authoriser: {
        beginSigning: async (input) => {
          const overtaken = first;
          first = undefined;
          if (overtaken) await meanwhile(input.txId, overtaken.unsigned);
          const answer = await fixture.ledger.beginSigning(input);
          if (answer.outcome !== 'begun' || input.kind !== 'first') return answer;
          first = { ...answer, expiresAtMs: Date.now() };
          return { outcome: 'begun', ...first };
        },
      },
    });
    return served.submit();
  };

  test('another run has begun a cancellation: this one signs it', async () => {
    const txId = await serveMeanwhile(async (id) => {
      await listAddress(fixture.database, fixture.alice, fixture.bob.address.toLowerCase());
      const fees = prepared({ maxFeePerGas: 4_000_000_000n, gasLimit: 21_000n });
      await fixture.ledger.beginSigning({ txId: id, lastAttempt: 1, kind: 'cancellation', prepared: fees });
    });
    await served.ends(txId, 'FAILED');
    expect(await kinds(txId)).toEqual(['first', 'cancellation']);
    await record(txId, 'transfer-failed-blacklisted-overtaken');
  });

  test('another run has had it signed and settled: this one ends', async () => {
    const txId = await serveMeanwhile(async (id, unsigned) => {
      const { address } = fixture.alice;
      await fixture.client.broadcast(getFamily('evm').assemble(unsigned, fixture.signatures(unsigned, address), address).bytes);
      await fixture.mine(fixture.chain.confirmations);
      await fixture.follow();
      await fixture.onChain.observe({ txId: id });
      expect(await fixture.ledger.settleTransfer({ txId: id })).toMatchObject({ status: 'CONFIRMED' });
    });
    expect(await handleOf(txId).result()).toEqual({ txId, status: 'CONFIRMED', code: null });
    await record(txId, 'transfer-confirmed-settled-before-order');
  });
});

describe('a run that is lost while its first attempt is signed', () => {
  let isAway: boolean;
  const lostRun = async (): Promise<string> => {
    isAway = true;
    await served.serve({
      sign: () => {
        if (isAway) throw ApplicationFailure.create({ type: 'signers_unavailable', message: 'away' });
      },
    });
    const txId = await served.submit();
    await is(txId, 'SIGNING');
    await handleOf(txId).terminate();
    isAway = false;
    return txId;
  };

  test('another run asks the chain, then has the same bytes signed', async () => {
    const txId = await lostRun();
    expect(await served.operations.retry(txId)).toBe('started again');
    await served.ends(txId, 'CONFIRMED');
    expect(await kinds(txId)).toEqual(['first']);
    await record(txId, 'transfer-confirmed-run-lost-before-signature');
  });

  test('another run cancels it when its destination is blacklisted meanwhile', async () => {
    const txId = await lostRun();
    await listAddress(fixture.database, fixture.alice, fixture.bob.address.toLowerCase());
    expect(await served.operations.retry(txId)).toBe('started again');
    await served.ends(txId, 'FAILED');
    expect(await kinds(txId)).toEqual(['first', 'cancellation']);
    await record(txId, 'transfer-failed-blacklisted-after-run-lost');
  });
});

test('a run without a transfer fails: there is nothing that it could park', async () => {
  await served.serve();
  const txId = newId();
  const options = { workflowId: transferWorkflowId(txId), taskQueue: mainTaskQueue, args: [{ txId }] };
  await served.client.workflow.start(workflowTypes.transfer, options);
  await expect(handleOf(txId).result()).rejects.toMatchObject({ cause: { type: 'not_found' } });
  await record(txId, 'transfer-failed-without-transaction');
});
