import { randomBytes } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import { type MfaRequest, MfaService } from '../../../src/mfa/service';
import type { Hex } from '../../../src/chains/types';
import type { SigningClaims } from '../../../src/messages/order';
import { transferWorkflowId } from '../../../src/messages/workflow-ids';
import { createLogger } from '../../../src/platform/logging';
import { SecretBox } from '../../../src/platform/secret-box';
import { Approvals } from '../../../src/transfers/screen/approvals';
import { WorkflowOutbox } from '../../../src/outbox/outbox';
import { createDeliveries } from '../../../src/processes/workflow-outbox';
import { expireApprovals } from '../../../src/transfers/screen/approval-expiry';
import { StartLimits } from '../../../src/transfers/start/start-limits';
import { countSponsored } from '../../../src/x402/settlement/send-approval';
import { transferWorkflowsOn } from '../../../src/transfers/start/workflows';
import { GenerationLimits } from '../../../src/wallets/generation-limits';
import { buildTotp, buildUser, randomAddress, totpCode } from '../../factories';
import { roomyGenerationLimits, roomyStartLimits } from '../../ledger';
import type { FollowFixture } from '../following/fixture';
import { booksAgree, ServedWorkflows, until } from '../transfers/served';
import { auditOf, listAddress, setPolicy, unlist } from './factors';

jest.setTimeout(120_000);

const served = new ServedWorkflows(() => booksAgree(fixture));
let fixture: FollowFixture;
beforeEach(() => {
  fixture = served.fixture;
});
const { serve, submit, status, ends, record } = {
  serve: served.serve.bind(served),
  submit: served.submit.bind(served),
  status: served.status.bind(served),
  ends: served.ends.bind(served),
  record: served.record.bind(served),
};
const is = (txId: string, wanted: string) => until(`${txId} is ${wanted}`, async () => (await status(txId)) === wanted);
const list = () => listAddress(fixture.database, fixture.alice, fixture.bob.address.toLowerCase());
const kinds = async (txId: string) => (await fixture.attempts(txId)).map(({ kind }) => kind);
const row = (txId: string) => fixture.transaction(txId);
const late = (txId: string) => auditOf(fixture.database, 'transfer.blacklisted_after_broadcast', txId);
const cancellationsOf = (txId: string) => auditOf(fixture.database, 'transfer.cancellation_begun', txId);
const expectBurnt = async (txId: string) => {
  const { request_id } = await row(txId);
  expect(await cancellationsOf(txId)).toMatchObject([
    {
      outcome: 'success',
      actor_type: 'system',
      actor_id: 'screening',
      client_id: fixture.alice.clientId,
      subject_type: 'transaction',
      detail: { code: 'address_blacklisted', reason: expect.stringMatching(/uses up the reservation/) },
      request_id,
    },
  ]);
};
const nodeRefusal = () =>
  ApplicationFailure.create({ type: 'address_blacklisted', message: 'on the list of node 1', nonRetryable: true });

describe('an address blacklisted', () => {
  test('between its acceptance and its screening: REJECTED and unlocked', async () => {
    const txId = await submit();
    await list();
    await serve();
    await is(txId, 'REJECTED');
    expect(await row(txId)).toMatchObject({ failure_code: 'address_blacklisted', signing_begun_at: null });
    expect(await auditOf(fixture.database, 'transfer.refused', txId)).toMatchObject([
      { outcome: 'refused', actor_type: 'system', detail: { code: 'address_blacklisted' } },
    ]);
    expect(await served.client.workflow.getHandle(transferWorkflowId(txId)).result()).toMatchObject({ status: 'REJECTED' });
    await record(transferWorkflowId(txId), 'transfer-rejected-blacklisted');
  });

  test('after it was screened: refused when signing would begin, REJECTED and unlocked', async () => {
    await serve({
      chain: {
        prepareAttempt: async (input) => {
          await list();
          return fixture.onChain.prepareAttempt(input);
        },
      },
    });
    const txId = await submit();
    await is(txId, 'REJECTED');
    expect(await row(txId)).toMatchObject({ failure_code: 'address_blacklisted', signing_begun_at: null });
    expect(await fixture.attempts(txId)).toEqual([]);
    await record(transferWorkflowId(txId), 'transfer-rejected-blacklisted-at-signing');
  });

  test('after signing has begun: a node refuses, a cancellation uses up the nonce, and a later transfer goes through', async () => {
    let listed: Promise<string> | undefined;
    await serve({
      sign: async (request) => {
        if (request.kind !== 'transfer' || request.recipients[0]?.address !== fixture.bob.address) return;
        await (listed ??= list());
        throw nodeRefusal();
      },
    });
    const txId = await submit({ amount: '2' });
    await is(txId, 'SUBMITTED');
    expect(await kinds(txId)).toEqual(['first', 'cancellation']);
    expect(await row(txId)).toMatchObject({
      cancellation_reason: 'address_blacklisted',
      screening_note: expect.stringMatching(/uses up/),
    });
    expect(await fixture.balance(fixture.alice, 'USDC')).toEqual({ available: 3_000_000n, locked: 2_000_000n });
    const later = await submit({ amount: '1', toAddress: randomAddress() });
    await ends(txId, 'FAILED');
    const [first, cancellation] = await fixture.attempts(txId);
    expect(first?.signed).toBeNull();
    expect(await row(txId)).toMatchObject({
      failure_code: 'address_blacklisted',
      tx_hash: cancellation?.tx_hash,
      fee: cancellation?.fee,
    });
    await ends(later, 'CONFIRMED');
    // no approval was requested
    const events = await fixture.database.query<{ status: string }[]>(
      'select status from transaction_events where tx_id = $1 order by seq',
      [txId],
    );
    expect(events.map((event) => event.status)).toEqual(['PENDING', 'SIGNING', 'SUBMITTED', 'FAILED']);
    await expectBurnt(txId);
    expect(await cancellationsOf(later)).toEqual([]);
    expect(await late(txId)).toEqual([]);
    await record(transferWorkflowId(txId), 'transfer-failed-blacklisted');
  });

  test('between signature and broadcast: the bytes are not sent, a cancellation is', async () => {
    const sent: number[] = [];
    await serve({
      chain: {
        broadcast: async (input) => {
          if (input.attempt === 1) await list();
          const result = await fixture.onChain.broadcast(input);
          if (result.outcome === 'accepted') sent.push(input.attempt);
          return result;
        },
      },
    });
    const txId = await submit();
    await ends(txId, 'FAILED');
    expect(await row(txId)).toMatchObject({ failure_code: 'address_blacklisted' });
    expect(sent).toEqual([2]);
    const [first, cancellation] = await fixture.attempts(txId);
    expect([first, cancellation]).toMatchObject([
      { signed: expect.any(String), broadcast_at: null },
      { kind: 'cancellation', success: true },
    ]);
    await expectBurnt(txId);
    await record(transferWorkflowId(txId), 'transfer-failed-blacklisted-signed');
  });

  test('and its run lost before the cancellation: a new run ends in the same way', async () => {
    let away = true;
    await serve({
      chain: {
        broadcast: async (input) => {
          if (input.attempt === 1) await unlessListed(input.txId);
          return fixture.onChain.broadcast(input);
        },
        prepareAttempt: (input) => {
          if (away && input.kind === 'cancellation')
            throw ApplicationFailure.create({ type: 'chain_unavailable', message: 'away' });
          return fixture.onChain.prepareAttempt(input);
        },
      },
    });
    const unlessListed = async (txId: string) => {
      if (!(await fixture.ledger.destinationBlacklisted({ txId }))) await list();
    };
    const txId = await submit();
    await until('the cancellation begins', async () => {
      const { pendingActivities } = (await served.client.workflow.getHandle(transferWorkflowId(txId)).describe()).raw;
      return (
        pendingActivities?.some(({ activityType, attempt }) => activityType?.name === 'prepareAttempt' && Number(attempt) > 1) ??
        false
      );
    });
    expect(await kinds(txId)).toEqual(['first']);
    await served.client.workflow.getHandle(transferWorkflowId(txId)).terminate();
    away = false;
    expect(await served.operations.retry(txId)).toBe('started again');
    await ends(txId, 'FAILED');
    expect(await row(txId)).toMatchObject({ failure_code: 'address_blacklisted' });
    expect(await kinds(txId)).toEqual(['first', 'cancellation']);
    await expectBurnt(txId);
    // by the user, once: the new run writes no row
    expect(await auditOf(fixture.database, 'transfer.accepted', txId)).toMatchObject([
      { actor_type: 'user', actor_id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    ]);
  });

  test('and its run lost while the cancellation waits for signatures: the signed bytes are never sent', async () => {
    let away = true;
    await serve({
      chain: {
        broadcast: async (input) => {
          if (input.attempt === 1 && !(await fixture.ledger.destinationBlacklisted({ txId: input.txId }))) await list();
          return fixture.onChain.broadcast(input);
        },
      },
      sign: ({ kind }) => {
        if (away && kind === 'cancellation') throw ApplicationFailure.create({ type: 'unavailable', message: 'away' });
      },
    });
    const txId = await submit();
    await until('the cancellation is begun', async () => (await kinds(txId)).length === 2);
    await served.client.workflow.getHandle(transferWorkflowId(txId)).terminate();
    // an abandoned attempt is neither sent nor sent again
    expect(await fixture.onChain.broadcast({ txId, attempt: 1 })).toEqual({ outcome: 'withheld' });
    expect(await fixture.onChain.observe({ txId })).toMatchObject({ state: 'absent' });
    expect(await served.operations.retry(txId)).toBe('started again');
    away = false;
    await ends(txId, 'FAILED');
    expect(await row(txId)).toMatchObject({ failure_code: 'address_blacklisted' });
    const [first, ...cancellations] = await fixture.attempts(txId);
    expect(first).toMatchObject({ signed: expect.any(String), broadcast_at: null });
    expect(cancellations.map(({ kind }) => kind).every((kind) => kind === 'cancellation')).toBe(true);
    expect(await fixture.anvil.client.getTransaction({ hash: first?.tx_hash as Hex }).catch(() => null)).toBeNull();
  });

  test('and the first attempt is executed nevertheless: CONFIRMED, with a note that the blacklisting was too late', async () => {
    await serve({
      chain: {
        broadcast: async (input) => {
          if (input.attempt === 1) {
            await list();
            return fixture.onChain.broadcast(input);
          }
          // another party has the signed bytes and sends them first
          const [first] = await fixture.attempts(input.txId);
          await fixture.client.broadcast(first?.signed as Hex);
          await fixture.mine();
          return fixture.onChain.broadcast(input);
        },
      },
    });
    const txId = await submit();
    await ends(txId, 'CONFIRMED');
    expect(await kinds(txId)).toEqual(['first', 'cancellation']);
    expect(await row(txId)).toMatchObject({ screening_note: expect.stringMatching(/could not be undone/) });
    expect(await late(txId)).toHaveLength(1);
    await expectBurnt(txId);
  });

  test('after the broadcast: noted at once, not undone', async () => {
    await serve();
    const txId = await submit();
    await is(txId, 'SUBMITTED');
    // so that it is not stuck before it is listed
    await fixture.mine();
    const factorId = await list();
    const note = expect.stringMatching(
      /^blacklisted at 20[-0-9T:]+Z, after the transaction had been broadcast: it could not be undone$/,
    );
    expect(await row(txId)).toMatchObject({ status: 'SUBMITTED', screening_note: note });
    expect(await late(txId)).toMatchObject([{ client_id: fixture.alice.clientId, subject_id: txId, actor_type: 'system' }]);
    // removed and listed again: noted once
    await unlist(fixture.database, factorId);
    await list();
    await ends(txId, 'CONFIRMED');
    expect(await cancellationsOf(txId)).toEqual([]);
    expect(await row(txId)).toMatchObject({ screening_note: note, failure_code: null });
    expect(await late(txId)).toHaveLength(1);
  });

  test('while it is broadcast: noted when that is recorded', async () => {
    const { client: chainClient } = fixture;
    const send = chainClient.broadcast.bind(chainClient);
    jest.spyOn(chainClient, 'broadcast').mockImplementationOnce(async (...sent) => {
      const result = await send(...sent);
      await list();
      return result;
    });
    await serve();
    const txId = await submit();
    await is(txId, 'SUBMITTED');
    await fixture.mine();
    expect(await late(txId)).toHaveLength(1);
    await ends(txId, 'CONFIRMED');
    expect(await late(txId)).toHaveLength(1);
  });

  test('while it is stuck: not sent again at a higher fee but parked; an operator’s abandon ends it', async () => {
    let hidden = true;
    await serve({
      chain: {
        observe: async (input) =>
          hidden ? { state: 'absent', hash: null, blockNumber: null, confirmations: 0 } : fixture.onChain.observe(input),
        // once it is sent, and before the run counts it as stuck
        broadcast: async (input) => {
          const sent = await fixture.onChain.broadcast(input);
          if (input.attempt === 1) await list();
          return sent;
        },
      },
    });
    const txId = await submit();
    await is(txId, 'NEEDS_ATTENTION');
    expect(await row(txId)).toMatchObject({ failure_code: 'address_blacklisted' });
    expect(await kinds(txId)).toEqual(['first']);
    const [first] = await fixture.attempts(txId);
    await fixture.anvil.client.dropTransaction({ hash: first?.tx_hash as Hex });
    hidden = false;
    expect(await fixture.onChain.observe({ txId })).toMatchObject({ state: 'absent' });
    expect(await fixture.anvil.client.getTransaction({ hash: first?.tx_hash as Hex }).catch(() => null)).toBeNull();
    await served.operations.abandon(txId);
    await ends(txId, 'FAILED');
    expect(await row(txId)).toMatchObject({ failure_code: 'address_blacklisted' });
    await expectBurnt(txId);
    await record(transferWorkflowId(txId), 'transfer-failed-blacklisted-stuck');
  });
});

test('blacklisted between the signature of a replacement and its broadcast: parked, the replacement is not sent', async () => {
  let hidden = true;
  await serve({
    chain: {
      observe: async (input) =>
        hidden ? { state: 'absent', hash: null, blockNumber: null, confirmations: 0 } : fixture.onChain.observe(input),
      broadcast: async (input) => {
        if (input.attempt === 2) await list();
        return fixture.onChain.broadcast(input);
      },
    },
  });
  const txId = await submit();
  await is(txId, 'NEEDS_ATTENTION');
  expect(await row(txId)).toMatchObject({ failure_code: 'address_blacklisted' });
  expect(await fixture.attempts(txId)).toMatchObject([
    { kind: 'first', broadcast_at: expect.any(Date) },
    { kind: 'replacement', signed: expect.any(String), broadcast_at: null },
  ]);
  // the retry finds it in a block, and not one that waits for too long
  await fixture.mine();
  hidden = false;
  await served.operations.retry(txId);
  await ends(txId, 'CONFIRMED');
  expect(await late(txId)).toHaveLength(1);
  await record(transferWorkflowId(txId), 'transfer-confirmed-blacklisted-replacement');
});

test('a node with an outdated copy refuses an address that is allowed again: it is asked until its copy is current', async () => {
  let refusals = 4;
  await serve({
    sign: () => {
      if (refusals-- > 0) throw nodeRefusal();
    },
  });
  const txId = await submit();
  await ends(txId, 'CONFIRMED');
  expect(await kinds(txId)).toEqual(['first']);
  await record(transferWorkflowId(txId), 'transfer-confirmed-blacklist-outdated');
});

describe('a transfer that has to be approved', () => {
  const box = new SecretBox(randomBytes(32).toString('hex'), 'TOTP_SECRETS_KEY');
  const waiting = async (changes: Parameters<typeof submit>[0] = {}) => {
    await setPolicy(fixture.database, fixture.alice, 'approve');
    const txId = await submit(changes);
    await is(txId, 'AWAITING_APPROVAL');
    return txId;
  };
  const approve = (txId: string) => act(txId, (approvals, request) => approvals.approve(request, txId));
  const act = async (txId: string, work: (approvals: Approvals, request: MfaRequest) => Promise<unknown>) => {
    const { clientId } = fixture.alice;
    const user = await buildUser(fixture.database, { clientId });
    const secret = await buildTotp(fixture.database, box, user);
    const outbox = new WorkflowOutbox(fixture.database, deliveries(), createLogger('test', 'fatal'));
    const approvals = new Approvals({ mfa: new MfaService(fixture.database, box), outbox, log: createLogger('test', 'fatal') });
    const caller = { clientId, userId: user.userId, keyId: '' };
    await work(approvals, { caller, code: totpCode(secret), operation: `decide ${txId}`, requestId: 'r' });
    await outbox.settled();
  };
  const deliveries = () =>
    createDeliveries({
      database: fixture.database,
      workflows: transferWorkflowsOn(served.client),
      keyGeneration: { start: () => Promise.resolve() },
      starts: new StartLimits(roomyStartLimits, countSponsored),
      generations: new GenerationLimits(roomyGenerationLimits),
      log: createLogger('test', 'fatal'),
    });
  const hasSearchStatus = async (txId: string, wanted: string) => {
    const { typedSearchAttributes } = await served.client.workflow.getHandle(transferWorkflowId(txId)).describe();
    return typedSearchAttributes.getAll().some(({ key, value }) => key.name === 'TxStatus' && value === wanted);
  };

  test('waits, continues once approved, and the approval is for this transfer only', async () => {
    await serve();
    const txId = await waiting({ amount: '1' });
    await until('its status is searchable', () => hasSearchStatus(txId, 'AWAITING_APPROVAL'));
    expect(await row(txId)).toMatchObject({ approved_at: null, approval_expires_at: expect.any(Date) });
    await approve(txId);
    await ends(txId, 'CONFIRMED');
    await record(transferWorkflowId(txId), 'transfer-confirmed-approved');

    const another = await waiting({ amount: '1' });
    await until('it waits', () => hasSearchStatus(another, 'AWAITING_APPROVAL'));
    await fixture.ledger.cancelTransfer({ txId: another });
    await deliveries().transfer_ended({ kind: 'transfer_ended', subjectId: another, clientId: fixture.alice.clientId });
    expect(await served.client.workflow.getHandle(transferWorkflowId(another)).result()).toMatchObject({ status: 'CANCELLED' });
    await record(transferWorkflowId(another), 'transfer-cancelled-awaiting-approval');
  });

  test('is REJECTED when a user rejects it', async () => {
    await serve();
    const txId = await waiting();
    await until('it waits', () => hasSearchStatus(txId, 'AWAITING_APPROVAL'));
    const unstored = { storeAnswer: () => Promise.resolve() };
    await act(txId, (approvals, request) => approvals.decide(request, unstored, [{ txId, decision: 'reject' }]));
    expect(await served.client.workflow.getHandle(transferWorkflowId(txId)).result()).toEqual({
      ...{ txId, status: 'REJECTED', code: 'approval_rejected' },
    });
    expect(await row(txId)).toMatchObject({ status: 'REJECTED', failure_code: 'approval_rejected', approved_at: null });
    await record(transferWorkflowId(txId), 'transfer-rejected-by-user');
  });

  test('is REJECTED when nobody has approved it in time', async () => {
    await serve();
    const txId = await waiting();
    await until('it waits', () => hasSearchStatus(txId, 'AWAITING_APPROVAL'));
    await fixture.database.query('update transactions set approval_expires_at = now() where tx_id = $1', [txId]);
    const outbox = new WorkflowOutbox(fixture.database, deliveries(), createLogger('test', 'fatal'));
    await expireApprovals(fixture.database, outbox);
    await is(txId, 'REJECTED');
    expect(await row(txId)).toMatchObject({ failure_code: 'approval_expired', approved_at: null });
    await expect(approve(txId)).rejects.toMatchObject({ code: 'not_awaiting_approval' });
    await record(transferWorkflowId(txId), 'transfer-rejected-approval-expired');
  });

  test('approved, but blacklisted meanwhile: REJECTED', async () => {
    await serve();
    const txId = await waiting();
    await until('it waits', () => hasSearchStatus(txId, 'AWAITING_APPROVAL'));
    await list();
    await approve(txId);
    await is(txId, 'REJECTED');
    expect(await row(txId)).toMatchObject({ failure_code: 'address_blacklisted' });
    await record(transferWorkflowId(txId), 'transfer-rejected-blacklisted-approved');
  });

  test('approved while its run was lost: continues in a new run', async () => {
    await serve();
    const txId = await waiting();
    await served.client.workflow.getHandle(transferWorkflowId(txId)).terminate();
    await approve(txId);
    expect(await status(txId)).toBe('PENDING');
    expect(await served.operations.retry(txId)).toBe('started again');
    await ends(txId, 'CONFIRMED');
  });

  test('keeps waiting in a new run when its run is lost', async () => {
    await serve();
    const txId = await waiting();
    const { approval_expires_at: until_ } = await row(txId);
    await served.client.workflow.getHandle(transferWorkflowId(txId)).terminate();
    expect(await served.operations.retry(txId)).toBe('started again');
    await until('it waits', () => hasSearchStatus(txId, 'AWAITING_APPROVAL'));
    expect(await row(txId)).toMatchObject({ status: 'AWAITING_APPROVAL', approval_expires_at: until_ });
    await approve(txId);
    await ends(txId, 'CONFIRMED');
  });

  test('is not signed before it is approved', async () => {
    const asked: SigningClaims[] = [];
    await serve({ sign: (request) => void asked.push(request) });
    const txId = await waiting();
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(asked).toEqual([]);
    await approve(txId);
    await ends(txId, 'CONFIRMED');
    expect(asked[0]).toMatchObject({ tx_id: txId, client_id: fixture.alice.clientId });
  });
});
