import { ApplicationFailure } from '@temporalio/common';
import type { Hex, Prepared } from '../../../src/chains/types';
import { timelineQuery } from '../../../src/messages/progress';
import { type ChainObservation, chainObservedSignal } from '../../../src/messages/transfer';
import { transferWorkflowId } from '../../../src/messages/workflow-ids';
import { prepared } from '../ledger/fixture';
import type { FollowFixture } from '../following/fixture';
import { listAddress } from '../screening/factors';
import { booksAgree, ServedWorkflows, until } from './served';

/** Rare turns of a transfer after its first attempt was signed. */

jest.setTimeout(120_000);

const served = new ServedWorkflows();
let fixture: FollowFixture;
beforeEach(() => {
  fixture = served.fixture;
});

const record = (txId: string, name: string, options?: { isOpen: boolean }) =>
  served.record(transferWorkflowId(txId), name, options);
const run = (txId: string) => served.client.workflow.getHandle(transferWorkflowId(txId));
const kinds = async (txId: string) => (await fixture.attempts(txId)).map(({ kind }) => kind);
const seen = (state: ChainObservation['state']): ChainObservation => ({
  state,
  hash: null,
  blockNumber: null,
  confirmations: 0,
});
const parkedAs = (txId: string, code: string) =>
  until(`parked as ${code}`, async () => {
    const { status, failure_code } = await fixture.transaction(txId);
    return status === 'NEEDS_ATTENTION' && failure_code === code;
  });

test('after five replacements an operator is asked; a retry follows them all', async () => {
  let isHidden = true;
  await served.serve({
    chain: { observe: (input) => (isHidden ? Promise.resolve(seen('absent')) : fixture.onChain.observe(input)) },
  });
  const txId = await served.submit();
  await parkedAs(txId, 'stuck');
  expect(await kinds(txId)).toEqual(['first', ...Array.from({ length: 5 }, () => 'replacement')]);
  isHidden = false;
  await served.operations.retry(txId);
  await served.ends(txId, 'CONFIRMED');
  await booksAgree(fixture);
  await record(txId, 'transfer-confirmed-after-attempt-limit');
});

test('an execution that is taken back before it is settled is waited for again', async () => {
  let isDeep = true;
  await served.serve({
    chain: {
      observe: (input) => {
        if (!isDeep) return fixture.onChain.observe(input);
        isDeep = false;
        return Promise.resolve(seen('confirmed'));
      },
    },
  });
  const txId = await served.submit();
  await until('settled too early', () => Promise.resolve(!isDeep));
  expect(await served.status(txId)).toBe('SUBMITTED');
  await served.ends(txId, 'CONFIRMED');
  await booksAgree(fixture);
  await record(txId, 'transfer-confirmed-settled-later');
});

test.each<[string, string, string, (first: Prepared) => Prepared]>([
  [
    'its fee is above the cap of the chain',
    'stuck',
    'transfer-confirmed-replacement-too-dear',
    (first) => ({ ...first, feeBound: (fixture.chain.maxNetworkFee + 1n).toString() }),
  ],
  ['it would be the same transaction', 'stuck', 'transfer-confirmed-replacement-same', (first) => first],
  [
    'the chain refuses to prepare it',
    'not_found',
    'transfer-confirmed-replacement-unprepared',
    () => {
      throw ApplicationFailure.create({ type: 'not_found', message: 'gone', nonRetryable: true });
    },
  ],
])('no replacement, since %s: parked, and a retry follows the first attempt', async (_why, code, name, replace) => {
  let first: Prepared | undefined;
  await served.serve({
    chain: { prepareAttempt: async (input) => (first ? replace(first) : (first = await fixture.onChain.prepareAttempt(input))) },
  });
  const txId = await served.submit();
  await parkedAs(txId, code);
  await fixture.mine();
  await served.operations.retry(txId);
  await served.ends(txId, 'CONFIRMED');
  expect(await kinds(txId)).toEqual(['first']);
  await booksAgree(fixture);
  await record(txId, name);
});

test('an attempt that is executed before its cancellation begins is not cancelled but settled', async () => {
  let isSent = false;
  await served.serve({
    chain: {
      broadcast: () => Promise.resolve({ outcome: 'rejected', reason: 'no such thing' }),
      observe: (input) => (isSent ? fixture.onChain.observe(input) : Promise.resolve(seen('absent'))),
    },
    authoriser: {
      beginSigning: async (input) => {
        if (input.kind === 'cancellation') {
          const [first] = await fixture.attempts(input.txId);
          await fixture.client.broadcast(first?.signed as Hex);
          await fixture.mine();
          await fixture.onChain.observe({ txId: input.txId });
          isSent = true;
        }
        return fixture.ledger.beginSigning(input);
      },
    },
  });
  const txId = await served.submit();
  await parkedAs(txId, 'broadcast_rejected');
  expect(await served.operations.abandon(txId)).toBe('abandoning');
  await served.ends(txId, 'CONFIRMED');
  expect(await kinds(txId)).toEqual(['first']);
  await booksAgree(fixture);
  await record(txId, 'transfer-confirmed-executed-before-cancellation');
});

test('a replacement that a node refuses by the blacklist is parked, until the first attempt is executed', async () => {
  await served.serve({
    sign: async ({ kind }) => {
      if (kind !== 'replacement') return;
      await listAddress(fixture.database, fixture.alice, fixture.bob.address.toLowerCase());
      throw ApplicationFailure.create({ type: 'address_blacklisted', message: 'on the list', nonRetryable: true });
    },
  });
  const txId = await served.submit();
  await parkedAs(txId, 'address_blacklisted');
  await fixture.mine();
  await run(txId).signal(chainObservedSignal, seen('included'));
  await served.ends(txId, 'CONFIRMED');
  expect(await kinds(txId)).toEqual(['first', 'replacement']);
  await booksAgree(fixture);
  await record(txId, 'transfer-confirmed-replacement-blacklisted');
});

test('a cancellation that another run has begun: the signed bytes are withheld, the cancellation is signed and sent', async () => {
  let isBegun = false;
  await served.serve({
    chain: {
      broadcast: async (input) => {
        if (!isBegun) {
          isBegun = true;
          await listAddress(fixture.database, fixture.alice, fixture.bob.address.toLowerCase());
          const { txId, attempt: lastAttempt } = input;
          const fees = prepared({ maxFeePerGas: 4_000_000_000n, gasLimit: 21_000n });
          const begun = await fixture.ledger.beginSigning({ txId, lastAttempt, kind: 'cancellation', prepared: fees });
          expect(begun).toMatchObject({ outcome: 'begun' });
        }
        return fixture.onChain.broadcast(input);
      },
    },
  });
  const txId = await served.submit();
  await served.ends(txId, 'FAILED');
  expect(await kinds(txId)).toEqual(['first', 'cancellation']);
  await booksAgree(fixture);
  await record(txId, 'transfer-failed-blacklisted-withheld');
});

test('another transaction that has used up the nonce: parked, and neither a retry nor an abandon can end it', async () => {
  await served.serve({
    chain: {
      broadcast: async (input) => {
        const proof = `update transfer_attempts set impossible_proof = '{"kind": "nonce_used"}' where tx_id = $1`;
        await fixture.database.query(proof, [input.txId]);
        return { outcome: 'rejected', reason: 'nonce too low' };
      },
    },
  });
  const txId = await served.submit();
  await parkedAs(txId, 'stuck');
  await expect(served.operations.abandon(txId)).rejects.toMatchObject({ code: 'business_error' });
  expect(await served.operations.retry(txId)).toBe('retrying');
  const parks = async () => (await run(txId).query(timelineQuery)).filter(({ step }) => step === 'park').length;
  await until('parked again', async () => (await parks()) === 2);
  expect(await fixture.transaction(txId)).toMatchObject({ status: 'NEEDS_ATTENTION', failure_code: 'stuck' });
  await record(txId, 'transfer-needs-attention-nonce-used', { isOpen: true });
});
