import { ApplicationFailure } from '@temporalio/common';
import type { FamilyRules } from '../../../src/chains/types';
import { statusQuery } from '../../../src/messages/progress';
import { abandonUpdate, retryUpdate, transferEndedSignal } from '../../../src/messages/transfer';
import { transferWorkflowId } from '../../../src/messages/workflow-ids';
import { verifyLedger } from '../../../src/ledger/verify';
import { GatewayError } from '../../../src/platform/errors';
import { recordAbandonRequest } from '../../../src/transfers/operate/operator-requests';
import { observationSignaller } from '../../../src/transfers/start/workflows';
import { signRefusal } from '../../node-refusals';
import { lifeBlocks } from '../../toy-chain/client';
import { createToyFixture, type ToyFixture } from '../../toy-chain/fixture';
import { sum } from '../../toy-chain/message';
import { auditOf, listAddress } from '../screening/factors';
import { ServedChain, until } from './served';

jest.setTimeout(120_000);

/** Long enough that nothing is replaced unless a test requires it. */
const patientMs = 60_000;
const hastyMs = 3_000;

let stuckAfterMs = patientMs;
let rules: Partial<FamilyRules> = {};
const served = new ServedChain<ToyFixture>(() => createToyFixture({ stuckAfterMs }, rules));
let fixture: ToyFixture;
beforeEach(() => {
  fixture = served.fixture;
});

/** Alice has outputs of 100 and 50 TOY; a first attempt pays a fee of 0.01. */
const fitsOneInput = '99.985';
const submit = (amount = fitsOneInput) => served.submit({ tokenSymbol: 'TOY', amount, toAddress: fixture.outside });
const arrived = (count = 1) => until(`${count} in the pool`, () => Promise.resolve(fixture.toy.pooled.length >= count));
const attemptCount = (txId: string, count: number) =>
  until(`${count} attempts`, async () => (await fixture.attempts(txId)).length >= count);

const handleOf = (txId: string) => served.client.workflow.getHandle(transferWorkflowId(txId));
/** With RECORD_HISTORIES=1 the history becomes one of the replay tests. */
const record = (txId: string, name: string) => served.record(transferWorkflowId(txId), name);
/** Until the workflow is in this stage. */
const entered = (txId: string, stage: string) =>
  until(`${txId} in ${stage}`, async () => (await handleOf(txId).query(statusQuery)).step === stage);
/** An operator's retry, once the workflow takes one: it asks the chain at once. */
const askChain = async (txId: string) => {
  await entered(txId, 'confirm');
  return handleOf(txId).executeUpdate(retryUpdate);
};

/** Follows once, and signals the workflows. */
const follow = () => fixture.follow({ signalTransfer: observationSignaller(served.client) });

/** Mines and follows until the transfer is in this state. */
const ends = (txId: string, as: string) =>
  until(`${txId} is ${as}`, async () => {
    fixture.toy.mine();
    await follow();
    return (await served.status(txId)) === as;
  });

/** The nodes refuse its recipient, whom its client has listed meanwhile: abandoned. */
async function blacklistedWhileSigned(): Promise<string> {
  await served.serve({
    sign: async () => {
      const { database, alice, chain, getFamily } = fixture;
      await listAddress(database, alice, fixture.outside, { chain: chain.name, family: chain.family, getFamily });
      throw ApplicationFailure.create({ type: 'address_blacklisted', message: 'on the list', nonRetryable: true });
    },
  });
  const txId = await submit();
  await until('abandoned', async () => (await fixture.transaction(txId)).cancellation_reason !== null);
  return txId;
}

async function booksAgree(): Promise<void> {
  for (const account of [fixture.alice, fixture.bob]) {
    const available = sum(fixture.toy.unspent(account.address));
    expect(await fixture.balance(account, 'TOY')).toEqual({ available, locked: 0n });
  }
  expect(await verifyLedger(fixture.database.manager)).toEqual([]);
}

describe('a transfer without problems', () => {
  test('is signed by both owners of its inputs, confirmed and settled', async () => {
    await served.serve();
    const txId = await submit();
    await arrived();
    await ends(txId, 'CONFIRMED');
    await fixture.expectBothSign(txId);
    await booksAgree();
  });

  test('counts its confirmations over skipped numbers, and a reorganisation does not change its end', async () => {
    await served.serve();
    const txId = await submit();
    await arrived();
    fixture.toy.mine();
    await follow();
    fixture.toy.reorganise(1, { isLost: true });
    fixture.toy.skip(1);
    fixture.toy.mine();
    await follow();
    await askChain(txId);
    await arrived();
    fixture.toy.mine();
    fixture.toy.skip(fixture.chain.confirmations);
    await follow();
    await ends(txId, 'CONFIRMED');
    expect(await fixture.attempts(txId)).toHaveLength(1);
    await booksAgree();
  });
});

test('a transfer that was settled outside of its run ends it', async () => {
  const pending = { state: 'pending', hash: null, blockNumber: null, confirmations: 0 } as const;
  await served.serve({ chain: { observe: () => Promise.resolve(pending) } });
  const txId = await submit();
  await arrived();
  await entered(txId, 'confirm');
  fixture.toy.mine(fixture.chain.confirmations);
  await fixture.follow();
  expect(await fixture.ledger.settleTransfer({ txId })).toMatchObject({ status: 'CONFIRMED' });
  await handleOf(txId).signal(transferEndedSignal);
  expect(await handleOf(txId).result()).toEqual({ txId, status: 'CONFIRMED', code: null });
  await booksAgree();
  await record(txId, 'transfer-confirmed-settled-outside');
});

describe('ids that change with each signature', () => {
  test('executed under an id that the gateway never saw: recognised by its message and settled', async () => {
    await served.serve();
    fixture.toy.holdsArrivals = true;
    const txId = await submit();
    await arrived();
    fixture.toy.holdsArrivals = false;
    const [attempt] = await fixture.attempts(txId);
    const peers = fixture.signOnceMore(attempt);
    expect(peers.id).not.toBe(attempt?.tx_hash);
    fixture.toy.accept(peers.bytes);
    await ends(txId, 'CONFIRMED');
    expect((await fixture.transaction(txId)).tx_hash).toBe(peers.id);
    await booksAgree();
  });

  test('executed although the gateway was never given a signature', async () => {
    await served.serve({
      sign: () => {
        throw ApplicationFailure.create({ type: 'signers_unavailable', message: 'the initiator is gone' });
      },
    });
    const txId = await submit();
    await attemptCount(txId, 1);
    const [attempt] = await fixture.attempts(txId);
    const peers = fixture.signOnceMore(attempt);
    fixture.toy.accept(peers.bytes);
    await ends(txId, 'CONFIRMED');
    expect(await fixture.transaction(txId)).toMatchObject({ tx_hash: peers.id });
    expect((await fixture.attempts(txId))[0]).toMatchObject({ signed: null, included_id: peers.id });
    await booksAgree();
    await record(txId, 'transfer-confirmed-signed-elsewhere');
  });
});

describe('a transfer that is stuck', () => {
  beforeAll(() => {
    stuckAfterMs = hastyMs;
  });
  afterAll(() => {
    stuckAfterMs = patientMs;
  });

  test('is replaced with an input more, and the replacement is confirmed', async () => {
    await served.serve();
    fixture.toy.holdsArrivals = true;
    const txId = await submit();
    await arrived(2);
    const [first, second] = await fixture.attempts(txId);
    expect([first?.kind, second?.kind]).toEqual(['first', 'replacement']);
    expect((await fixture.reservations(txId)).map(({ attempts }) => attempts)).toEqual([[1, 2], [1, 2], [2]]);
    fixture.toy.drop(String(first?.tx_hash));
    fixture.toy.releaseHeld();
    await ends(txId, 'CONFIRMED');
    expect((await fixture.transaction(txId)).tx_hash).toBe(second?.tx_hash);
    await booksAgree();
  });

  test('the input added in the replacement is free after finality, and not before, when the first attempt was executed', async () => {
    await served.serve();
    fixture.toy.holdsArrivals = true;
    const txId = await submit();
    await arrived(2);
    const [first] = await fixture.attempts(txId);
    for (const id of fixture.toy.pooled) if (id !== first?.tx_hash) fixture.toy.drop(id);
    fixture.toy.releaseHeld();
    fixture.toy.mine();
    await ends(txId, 'CONFIRMED');
    expect((await fixture.transaction(txId)).tx_hash).toBe(first?.tx_hash);
    const held = () => fixture.reservations(txId).then((rows) => rows.map(({ isHeld }) => isHeld));
    while (!(await fixture.transaction(txId)).finalized_at) {
      expect(await held()).toEqual([true, true, true]);
      await expect(fixture.release((await fixture.reservations(txId))[2]?.id ?? '')).rejects.toThrow('may still be used');
      fixture.toy.mine();
      await follow();
    }
    expect(await held()).toEqual([true, true, false]);
    const next = await submit('49.9');
    await arrived();
    await ends(next, 'CONFIRMED');
    await booksAgree();
  });

  test('abandoned: its expiry is waited for, nothing is unlocked before every attempt is proven impossible', async () => {
    await served.serve();
    fixture.toy.holdsArrivals = true;
    // the rest does not suffice for a fourth attempt
    const txId = await submit('149.95');
    await until('parked', async () => (await served.status(txId)) === 'NEEDS_ATTENTION');
    await recordAbandonRequest(fixture.database.manager, { txId, attempt: 3, operator: 'test' });
    expect(await handleOf(txId).executeUpdate(abandonUpdate)).toEqual({ status: 'abandoning' });
    expect(await fixture.attempts(txId)).toHaveLength(3);
    await expect(fixture.ledger.failByProof({ txId })).rejects.toThrow();
    await expect(fixture.setFailed(txId)).rejects.toThrow('a proof for every attempt');
    expect((await fixture.balance(fixture.alice, 'TOY')).locked).toBeGreaterThan(149_950n);
    await ends(txId, 'FAILED');
    expect(await fixture.attempts(txId)).toHaveLength(3);
    for (const { impossible_proof: proof } of await fixture.attempts(txId)) expect(proof).toMatchObject({ kind: 'expired' });
    expect((await fixture.reservations(txId)).map(({ isHeld }) => isHeld)).toEqual([false, false, false]);
    await booksAgree();
    await record(txId, 'transfer-failed-by-proof');
  });

  test('told to abandon without a request on record: parked when no attempt can be executed any more, and ended once there is one', async () => {
    await served.serve();
    fixture.toy.holdsArrivals = true;
    const txId = await submit('149.95');
    await until('parked', async () => (await served.status(txId)) === 'NEEDS_ATTENTION');
    await handleOf(txId).executeUpdate(abandonUpdate);
    await until('refused', async () => {
      fixture.toy.mine();
      await follow();
      return (await fixture.transaction(txId)).failure_code === 'not_cancellable';
    });
    await recordAbandonRequest(fixture.database.manager, { txId, attempt: 3, operator: 'test' });
    await handleOf(txId).executeUpdate(abandonUpdate);
    await ends(txId, 'FAILED');
    expect(await fixture.transaction(txId)).toMatchObject({ failure_code: 'abandoned' });
    await booksAgree();
  });

  test('blacklisted while it is signed: nothing is sent, and it ends as blacklisted once it has expired', async () => {
    const txId = await blacklistedWhileSigned();
    await ends(txId, 'FAILED');
    expect(await fixture.transaction(txId)).toMatchObject({ failure_code: 'address_blacklisted' });
    expect(await auditOf(fixture.database, 'transfer.cancellation_begun', txId)).toHaveLength(1);
    expect(fixture.toy.received).toEqual([]);
    await booksAgree();
    await record(txId, 'transfer-failed-blacklisted-expired');
  });

  test('abandoned and executed nevertheless: settled as usual', async () => {
    await served.serve();
    fixture.toy.holdsArrivals = true;
    const txId = await submit('149.95');
    await until('parked', async () => (await served.status(txId)) === 'NEEDS_ATTENTION');
    await handleOf(txId).executeUpdate(abandonUpdate);
    fixture.toy.releaseHeld();
    await ends(txId, 'CONFIRMED');
    await booksAgree();
    await record(txId, 'transfer-confirmed-abandoned');
  });
});

describe('a transfer that is stuck and sent once more', () => {
  beforeAll(() => {
    stuckAfterMs = hastyMs;
    rules = { stuck: 'rebroadcast' };
  });
  afterAll(() => {
    stuckAfterMs = patientMs;
    rules = {};
  });

  test('is not sent any more once it is abandoned', async () => {
    const txId = await blacklistedWhileSigned();
    await new Promise((resolve) => setTimeout(resolve, 2 * hastyMs));
    await ends(txId, 'FAILED');
    expect(fixture.toy.received).toEqual([]);
    await booksAgree();
    await record(txId, 'transfer-failed-blacklisted-not-sent-again');
  });

  test('is signed first, if its execution under a signature that the gateway never saw was taken back', async () => {
    let refuses = true;
    await served.serve({
      sign: () => {
        if (refuses) throw ApplicationFailure.create({ type: 'signers_unavailable', message: 'the initiator is gone' });
      },
    });
    const txId = await submit();
    await attemptCount(txId, 1);
    const [attempt] = await fixture.attempts(txId);
    fixture.toy.accept(fixture.signOnceMore(attempt).bytes);
    fixture.toy.mine();
    await follow();
    // included: no signature is asked for any more
    await entered(txId, 'confirm');
    refuses = false;
    fixture.toy.reorganise(1, { isLost: true });
    fixture.toy.mine();
    await follow();
    await arrived();
    await ends(txId, 'CONFIRMED');
    expect((await fixture.attempts(txId)).map(({ kind, signed }) => [kind, signed !== null])).toEqual([['first', true]]);
    await booksAgree();
    await record(txId, 'transfer-confirmed-sent-before-signed');
  });
});

describe('a transfer that expires', () => {
  test('and that the limits of two nodes do not allow: nothing is signed or sent, and it ends as node_policy once it has expired', async () => {
    let asked = 0;
    await served.serve({
      sign: (claims, node) => {
        asked += 1;
        const { text, signature } = signRefusal(node, claims);
        const extra = { node: String(node), refusal: text, refusal_signature: signature };
        throw new GatewayError('node_policy', 'refused', { extra });
      },
    });
    const txId = await submit();
    await until('abandoned', async () => (await fixture.transaction(txId)).cancellation_reason === 'node_policy');
    expect((await fixture.balance(fixture.alice, 'TOY')).locked).toBeGreaterThan(0n);
    await ends(txId, 'FAILED');
    expect(await fixture.transaction(txId)).toMatchObject({ failure_code: 'node_policy', tx_hash: null });
    const attempts = await fixture.attempts(txId);
    expect(attempts.map(({ kind, signed }) => [kind, signed])).toEqual([['first', null]]);
    expect(attempts[0]?.impossible_proof).toMatchObject({ kind: 'expired' });
    expect(asked).toBe(2);
    expect(fixture.toy.received).toEqual([]);
    expect(await auditOf(fixture.database, 'transfer.cancellation_begun', txId)).toHaveLength(1);
    await booksAgree();
  });

  test('is reissued once it is proven impossible, with inputs that are free again', async () => {
    await served.serve();
    fixture.toy.holdsArrivals = true;
    const txId = await submit();
    await arrived();
    fixture.toy.drop(fixture.toy.pooled[0] as string);
    fixture.toy.releaseHeld();
    fixture.toy.mine(lifeBlocks + fixture.chain.finalityDepth);
    await follow();
    await askChain(txId);
    await arrived();
    await ends(txId, 'CONFIRMED');
    const attempts = await fixture.attempts(txId);
    expect(attempts.map(({ kind }) => kind)).toEqual(['first', 'reissue']);
    expect(attempts[0]?.impossible_proof).toMatchObject({ kind: 'expired' });
    await booksAgree();
    await record(txId, 'transfer-confirmed-reissued');
  });
});
