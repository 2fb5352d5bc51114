import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { ApplicationFailure } from '@temporalio/common';
import { projectRoot } from '../../../dev/paths';
import type { History } from '../../../dev/replay/history';
import { timeline } from '../../../dev/replay/report';
import { feesIn } from '../../../src/chains/evm/codec/transaction';
import { listAuditLog } from '../../../src/audit/list';
import type { Hex } from '../../../src/chains/types';
import type { SigningClaims } from '../../../src/messages/order';
import { type LiveStatus, statusQuery } from '../../../src/messages/progress';
import { abandonUpdate, chainObservedSignal } from '../../../src/messages/transfer';
import { failureCodes } from '../../../src/platform/codes';
import type { GatewayError } from '../../../src/platform/errors';
import { presentTransactionDetails } from '../../../src/transactions/presenter';
import { TransactionRepository } from '../../../src/transactions/repository';
import { transferWorkflowsOn } from '../../../src/transfers/start/workflows';
import { transferWorkflowId } from '../../../src/messages/workflow-ids';
import type { FollowFixture } from '../following/fixture';
import { showOrders } from '../../../src/cli/order-operations';
import { findSignedOrders } from '../../../src/cli/signed-orders';
import { OrderKeys } from '../../../src/mpc/order-keys';
import { orderKeys } from '../../orders';
import { isAbandonRequested } from '../../../src/transfers/operate/operator-requests';
import type { RecordedRun } from '../../replay/record-run';
import { booksAgree, ether, ServedWorkflows, until } from './served';

jest.setTimeout(120_000);

const served = new ServedWorkflows();
let fixture: FollowFixture;
beforeEach(() => {
  fixture = served.fixture;
});

const client = () => served.client;
const operations = () => served.operations;
const serve = served.serve.bind(served);
const submit = served.submit.bind(served);
const status = served.status.bind(served);

/** Mines and follows, like the follower would, until the transfer has ended. */
async function confirmed(txId: string): Promise<void> {
  await served.ends(txId, 'CONFIRMED');
  const { available, locked } = await fixture.balance(fixture.alice, 'USDC');
  expect([available, locked]).toEqual([0n, 0n]);
}

/** With RECORD_HISTORIES=1 the history of the newest run becomes one of the replay tests. */
const record = (txId: string, name: string, options?: RecordedRun) => served.record(transferWorkflowId(txId), name, options);

const historyLength = async (txId: string) =>
  (await client().workflow.getHandle(transferWorkflowId(txId)).describe()).historyLength;

test('the first attempt is executed while a replacement is prepared: settled, and not a failed run with locked funds', async () => {
  await serve({
    chain: {
      prepareAttempt: async (input) => {
        // the whole balance is transferred: the chain would now refuse a second transfer
        if (input.attempt === 2) await fixture.mine(2);
        return fixture.onChain.prepareAttempt(input);
      },
    },
  });
  const txId = await submit();
  await until('a second attempt', async () => (await fixture.attempts(txId)).length > 1);
  await confirmed(txId);
});

/** The audited acts of operators on the transfer. */
const audited = async (txId: string) =>
  (await listAuditLog(fixture.database.manager, { subject: txId, limit: 10 })).flatMap(
    ({ action, outcome, detail, actor_type: actor }) => (actor === 'operator' ? [[action, outcome, detail]] : []),
  );

/** What GET /transactions/{tx_id} tells its client of the run, as soon as the run answers in time. */
async function toldOf(txId: string, step: string): Promise<LiveStatus> {
  const transactions = new TransactionRepository(fixture.database);
  let told: LiveStatus | null = null;
  await until(`its client is told ${step}`, async () => {
    const live = await transferWorkflowsOn(client()).live(txId);
    const details = await transactions.findDetails(fixture.alice.clientId, txId);
    told = details && presentTransactionDetails({ details, isOwnAddress: true, live }).live;
    return told?.step === step;
  });
  return told as unknown as LiveStatus;
}

/** `npm run replay:add` with the run, from the Temporal of this file. Returns the history that it has written. */
async function added(txId: string): Promise<History> {
  const folder = mkdtempSync(path.join(tmpdir(), 'added-'));
  const command = [path.join(projectRoot, 'dist/dev/replay/add.js'), txId, 'added', '--folder', folder];
  const { address, namespace = 'default' } = served.temporal;
  const env = { PATH: process.env.PATH, TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace };
  await promisify(execFile)(process.execPath, command, { env });
  const history = JSON.parse(readFileSync(path.join(folder, 'added.json'), 'utf8')) as History;
  rmSync(folder, { recursive: true });
  return history;
}

test('a step that fails permanently parks the transfer; a retry continues; its run is added to the replay tests', async () => {
  let refusals = 1;
  await serve({
    chain: {
      observe: async (input) => {
        if (refusals-- > 0) throw ApplicationFailure.create({ type: 'not_found', message: 'gone', nonRetryable: true });
        return fixture.onChain.observe(input);
      },
    },
  });
  const txId = await submit();
  await until('parked', async () => (await status(txId)) === 'NEEDS_ATTENTION');
  const { title } = failureCodes.not_found;
  expect(await toldOf(txId, 'park')).toMatchObject({ detail: `${title}. An operator of the gateway has to decide` });
  expect(await operations().retry(txId)).toBe('retrying');
  await confirmed(txId);
  await client().workflow.getHandle(transferWorkflowId(txId)).result();
  expect(timeline(await added(txId)).at(-1)).toMatch(/ end: CONFIRMED$/);
  expect(await audited(txId)).toEqual([['transfer.retried', 'success', { status: 'NEEDS_ATTENTION' }]]);
  await record(txId, 'transfer-confirmed-retried');
});

describe('what the Temporal UI shows of a transfer that waits', () => {
  const shows = (txId: string, what: string) =>
    until(`it shows: ${what}`, async () => (await served.shownDetails(txId)).startsWith(what));

  test('for the answer of the chain: while it is asked, and once it has not answered for some time, in each step', async () => {
    let silent: 'prepareAttempt' | 'broadcast' | 'observe' | null = 'prepareAttempt';
    let isHeld = true;
    const answers = (name: NonNullable<typeof silent>) => async (input: never) => {
      if (isHeld) await until('it may answer', () => Promise.resolve(!isHeld));
      if (silent === name) throw ApplicationFailure.create({ type: 'chain_unavailable', message: 'refused by 10.0.0.1' });
      return (fixture.onChain[name] as (it: never) => Promise<never>)(input);
    };
    await serve({
      chain: {
        prepareAttempt: answers('prepareAttempt'),
        broadcast: answers('broadcast'),
        observe: answers('observe'),
      },
    });
    const txId = await submit();
    await shows(txId, '**Asks ethereum what attempt 1 costs.** If this stays, no worker of the chain runs');
    isHeld = false;
    const unanswered =
      '**No endpoint of ethereum gives a usable answer**; it goes on by itself once one does: check the endpoints, docs/runbook/alerts.md#chainsilent';
    for (const [step, next] of [
      ['prepare', 'broadcast'],
      ['broadcast', 'observe'],
      ['confirm', null],
    ] as const) {
      await until(`it says so in the step ${step}`, async () => {
        const shown = await served.shownDetails(txId);
        return shown.startsWith(unanswered) && shown.includes('refused by 10.0.0.1') && shown.endsWith(`Step: ${step}`);
      });
      expect((await toldOf(txId, step)).detail).not.toContain('10.0.0.1');
      // deep enough when it is asked again: nothing is replaced
      if (next === null) await fixture.mine(fixture.chain.confirmations);
      silent = next;
    }
    await confirmed(txId);
    await record(txId, 'transfer-confirmed-chain-silent');
  });

  test('for a worker that fails otherwise', async () => {
    let fails = true;
    await serve({
      chain: {
        prepareAttempt: (input) => {
          if (fails) throw new Error('no words for operators');
          return fixture.onChain.prepareAttempt(input);
        },
      },
    });
    const txId = await submit();
    await shows(txId, '**The worker of ethereum fails in this step**, and repeats it: read its log');
    fails = false;
    await confirmed(txId);
    await record(txId, 'transfer-confirmed-step-failing');
  });

  test('for the authoriser, then for signing nodes: at every moment of the wait', async () => {
    await served.serveBuild();
    const txId = await submit();
    await shows(
      txId,
      '**Waits for the authoriser** to order the signature. If this stays, it is down: start it, docs/runbook/alerts.md#processmissing',
    );
    await served.serveOthers({}, []);
    await shows(txId, '**Waits for two of the signing nodes**');
    const moments = new Set<string>();
    await until('all pairs are asked again', async () => {
      const shown = await served.shownDetails(txId);
      expect(shown).toMatch(/^\*\*Waits for two of the signing nodes\*\*, and goes on by itself: .*#signers_unavailable/);
      moments.add(shown.slice(shown.lastIndexOf('Step: ')));
      return moments.size > 3;
    });
    expect((await toldOf(txId, 'sign')).detail).not.toMatch(/nodes? \d/i);
    // the workers of the next test would run it
    await client().workflow.getHandle(transferWorkflowId(txId)).terminate();
  });
});

test('a transfer that has ended when it is to be parked ends its run', async () => {
  await serve({
    ledger: {
      settleTransfer: async (input) => {
        const result = await fixture.ledger.settleTransfer(input);
        if (result.status === 'WAITING') return result;
        throw ApplicationFailure.create({ type: 'not_found', message: 'its answer was lost', nonRetryable: true });
      },
    },
  });
  const txId = await submit();
  await confirmed(txId);
  const result = client().workflow.getHandle(transferWorkflowId(txId)).result();
  expect(await result).toEqual({ txId, status: 'CONFIRMED', code: null });
  await record(txId, 'transfer-confirmed-ended-when-parked');
}, 30_000);

test.each([
  ['before its nonce is taken', 'prepareAttempt' as const],
  ['before it is broadcast', 'broadcast' as const],
  ['while it is watched', 'observe' as const],
])('terminated %s: an operator’s retry starts it again and money moves once', async (_, step) => {
  let block = true;
  const hold = (name: typeof step) => async (input: never) => {
    if (block && name === step) throw ApplicationFailure.create({ type: 'chain_unavailable', message: 'away' });
    return (fixture.onChain[name] as (it: never) => Promise<never>)(input);
  };
  await serve({ chain: { prepareAttempt: hold('prepareAttempt'), broadcast: hold('broadcast'), observe: hold('observe') } });
  const txId = await submit();
  const handle = client().workflow.getHandle(transferWorkflowId(txId));
  const expected = { prepareAttempt: 'PENDING', broadcast: 'SIGNING', observe: 'SUBMITTED' }[step];
  await until(expected, async () => (await status(txId)) === expected);
  // the row says it before the run does
  if (step === 'observe') await until('followed', async () => (await handle.query(statusQuery)).step === 'confirm');
  // the workflow answers for itself, whatever the status: one that does not wait has nothing to retry
  const answer = await operations()
    .retry(txId)
    .catch((error: GatewayError) => error.code);
  expect(answer).toBe(step === 'observe' ? 'retrying' : 'business_error');
  await handle.terminate();
  block = false;
  expect(await operations().retry(txId)).toBe('started again');
  await confirmed(txId);
  await expect(operations().retry(txId)).rejects.toMatchObject({ code: 'business_error' });
  const postings = await fixture.database.query<{ kind: string }[]>(`select kind from ledger_postings where tx_id = $1`, [txId]);
  expect(postings.map(({ kind }) => kind).sort()).toEqual(['lock', 'settle']);
  const after = { prepareAttempt: 'screening', broadcast: 'signature', observe: 'broadcast' }[step];
  await record(txId, `transfer-confirmed-run-lost-after-${after}`);
});

test('the orders of a transfer are found signed in the history of its workflow', async () => {
  await serve();
  const txId = await submit();
  await confirmed(txId);
  const keys = await OrderKeys.create(orderKeys, 'ORDER_KEYS');
  const findSigned = (id: string) => findSignedOrders(client(), id);
  const findKept = () => Promise.reject(new Error('the history has it'));
  expect(await showOrders({ database: fixture.database, keys, findSigned, findKept }, txId)).toEqual([
    expect.objectContaining({ attempt: 1, kind: 'transfer', signature: 'valid', kid: expect.any(String) }),
  ]);
  await client().workflow.getHandle(transferWorkflowId(txId)).result();
});

test('a rule that refuses after screening rejects the transfer as screening does, with an audit row', async () => {
  await serve({
    chain: {
      prepareAttempt: async (input) => {
        await fixture.database.query(`update wallets set status = 'SUSPENDED'`);
        return fixture.onChain.prepareAttempt(input);
      },
    },
  });
  const txId = await submit();
  await until('rejected', async () => (await status(txId)) === 'REJECTED');
  expect(await client().workflow.getHandle(transferWorkflowId(txId)).result()).toMatchObject({ code: 'wallet_not_active' });
  const [event] = await listAuditLog(fixture.database.manager, { subject: txId, action: 'transfer.refused', limit: 1 });
  expect(event).toMatchObject({ outcome: 'refused', detail: { code: 'wallet_not_active' } });
  expect(await fixture.balance(fixture.alice, 'USDC')).toEqual({ available: 5_000_000n, locked: 0n });
  await record(txId, 'transfer-rejected-at-signing');
});

test('Temporal’s own cancellation does not leave funds locked', async () => {
  await serve();
  const txId = await submit();
  await client().workflow.getHandle(transferWorkflowId(txId)).cancel();
  await confirmed(txId);
  await record(txId, 'transfer-confirmed-cancellation-ignored');
});

test('an outdated observation does not end the wait of a parked transfer', async () => {
  let refuse = true;
  await serve({
    sign: () => {
      if (refuse) throw ApplicationFailure.create({ type: 'intent_mismatch', message: 'no', nonRetryable: true });
    },
  });
  const txId = await submit();
  await until('parked', async () => (await status(txId)) === 'NEEDS_ATTENTION');
  // the signal of a reorganisation that no stage read: it stays in the queue until confirmation
  const handle = client().workflow.getHandle(transferWorkflowId(txId));
  await handle.signal(chainObservedSignal, { state: 'absent', hash: null, blockNumber: null, confirmations: 0 });
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const before = await historyLength(txId);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(await historyLength(txId)).toBe(before);
  refuse = false;
  await operations().retry(txId);
  await confirmed(txId);
  await record(txId, 'transfer-confirmed-observation-outdated');
});

test('a retry that arrives while nothing waits for it is refused, and does not answer a later wait', async () => {
  let refuse = true;
  let asked = 0;
  await serve({
    sign: async () => {
      asked += 1;
      if (!refuse) return;
      if (asked === 1) await expect(operations().retry(txId)).rejects.toMatchObject({ code: 'business_error' });
      throw ApplicationFailure.create({ type: 'intent_mismatch', message: 'no', nonRetryable: true });
    },
  });
  const txId = await submit();
  await until('parked', async () => (await status(txId)) === 'NEEDS_ATTENTION');
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(asked).toBe(2);
  refuse = false;
  expect(await operations().retry(txId)).toBe('retrying');
  await confirmed(txId);
  await record(txId, 'transfer-confirmed-retry-refused');
});

test('bytes that the node refuses again after a retry are replaced at current fees', async () => {
  const refused: number[] = [];
  await serve({
    chain: {
      broadcast: async (input) => {
        if (input.attempt > 1) return fixture.onChain.broadcast(input);
        refused.push(input.attempt);
        return { outcome: 'rejected', reason: 'transaction underpriced' };
      },
      observe: async (input) => {
        const attempts = await fixture.attempts(input.txId);
        if (attempts.length > 1) return fixture.onChain.observe(input);
        return { state: 'absent', hash: null, blockNumber: null, confirmations: 0 };
      },
    },
  });
  const txId = await submit();
  await until('parked', async () => (await status(txId)) === 'NEEDS_ATTENTION');
  await operations().retry(txId);
  await confirmed(txId);
  expect(refused).toHaveLength(2);
  await record(txId, 'transfer-confirmed-broadcast-rejected');
});

describe('abandon', () => {
  const refuse = (request: Pick<SigningClaims, 'kind'>) => {
    if (request.kind !== 'cancellation')
      throw ApplicationFailure.create({ type: 'intent_mismatch', message: 'no', nonRetryable: true });
  };
  const parked = (txId: string) => until('parked', async () => (await status(txId)) === 'NEEDS_ATTENTION');
  const ends = served.ends.bind(served);
  const kinds = async (txId: string) => (await fixture.attempts(txId)).map(({ kind }) => kind);
  const agrees = () => booksAgree(fixture);

  test('nodes that refuse permanently: a cancellation uses up the nonce, the transfer fails and later ones are confirmed', async () => {
    let refused: string | undefined;
    await serve({
      sign: (request) => {
        if (request.tx_id === (refused ??= request.tx_id)) refuse(request);
      },
    });
    const txId = await submit({ amount: '2' });
    await parked(txId);
    expect(await operations().abandon(txId)).toBe('abandoning');
    await until('a cancellation is sent', async () => (await status(txId)) === 'SUBMITTED');
    expect(await kinds(txId)).toEqual(['first', 'cancellation']);
    await expect(operations().abandon(txId)).rejects.toMatchObject({ code: 'business_error' });

    const later = await submit({ amount: '1' });
    await fixture.mine(fixture.chain.confirmations + 1);
    await fixture.follow();
    // by then its run has asked the chain
    await new Promise((resolve) => setTimeout(resolve, fixture.chain.stuckAfterMs + 1_000));
    // deep enough for a transfer, not final yet: an earlier attempt could still take its place
    expect(await status(txId)).toBe('SUBMITTED');
    expect(await fixture.balance(fixture.alice, 'USDC')).toMatchObject({ available: 2_000_000n });

    await ends(txId, 'FAILED');
    const row = await fixture.transaction(txId);
    const attempts = await fixture.attempts(txId);
    const cancellation = attempts.find(({ block_number }) => block_number !== null);
    expect(cancellation).toMatchObject({ kind: 'cancellation', success: true });
    expect(row).toMatchObject({ failure_code: 'abandoned', tx_hash: cancellation?.tx_hash, fee: cancellation?.fee });
    expect(await fixture.anvil.client.getTransaction({ hash: cancellation?.tx_hash as Hex })).toMatchObject({
      value: 0n,
      input: '0x',
      nonce: 0,
      to: fixture.alice.address.toLowerCase(),
    });
    const postings = await fixture.database.query<{ kind: string }[]>(
      `select kind from ledger_postings where tx_id = $1 and kind <> 'lock_more' order by created_at`,
      [txId],
    );
    expect(postings.map(({ kind }) => kind)).toEqual(['lock', 'refund']);
    await expect(client().workflow.getHandle(transferWorkflowId(txId)).result()).rejects.toMatchObject({
      cause: { type: 'abandoned' },
    });

    await ends(later, 'CONFIRMED');
    await agrees();
    await expect(operations().abandon(txId)).rejects.toMatchObject({ code: 'business_error' });
    // newest first; the second was asked for after the cancellation had been sent, and the workflow refused
    expect(await audited(txId)).toEqual([
      ['transfer.abandoned', 'refused', { status: 'SUBMITTED', reason: expect.stringContaining('parked') }],
      ['transfer.abandoned', 'success', { status: 'SUBMITTED' }],
      ['transfer.abandoned', 'success', { status: 'NEEDS_ATTENTION' }],
    ]);
  });

  test.each([
    ['retry', 'retrying', 'CONFIRMED'],
    ['abandon', 'abandoning', 'FAILED'],
  ] as const)('%s reaches a parked workflow although its order was renewed from outside', async (act, answer, end) => {
    let refusing = true;
    await serve({
      sign: (request) => {
        if (refusing) refuse(request);
      },
    });
    const txId = await submit();
    await parked(txId);
    await fixture.ledger.beginSigning({ txId, lastAttempt: 1, kind: 'resume' });
    expect(await status(txId)).toBe('SIGNING');
    refusing = false;
    expect(await operations()[act](txId)).toBe(answer);
    await ends(txId, end);
    await agrees();
  });

  test('a cancellation that no block takes in time is replaced by another at higher fees', async () => {
    await serve({ sign: refuse });
    const txId = await submit();
    await parked(txId);
    expect(await operations().abandon(txId)).toBe('abandoning');
    await until('its second cancellation', async () => (await kinds(txId)).length > 2);
    await ends(txId, 'FAILED');
    expect((await kinds(txId)).slice(0, 3)).toEqual(['first', 'cancellation', 'cancellation']);
    await agrees();
    await record(txId, 'transfer-failed-cancellation-replaced');
  });

  test('bytes that the chain refuses: replaced by a cancellation at higher fees', async () => {
    await serve({
      chain: {
        broadcast: async (input) =>
          input.attempt > 1 ? fixture.onChain.broadcast(input) : { outcome: 'rejected', reason: 'no such thing' },
        observe: async (input) =>
          (await fixture.attempts(input.txId)).length > 1
            ? fixture.onChain.observe(input)
            : { state: 'absent', hash: null, blockNumber: null, confirmations: 0 },
      },
    });
    const txId = await submit();
    await parked(txId);
    await operations().abandon(txId);
    await ends(txId, 'FAILED');
    const [first, cancellation] = (await fixture.attempts(txId)).map(({ unsigned }) => feesIn(unsigned as Hex));
    expect(Number(cancellation?.maxFeePerGas)).toBeGreaterThanOrEqual(1.125 * Number(first?.maxFeePerGas));
    expect(Number(cancellation?.maxPriorityFeePerGas)).toBeGreaterThanOrEqual(1.125 * Number(first?.maxPriorityFeePerGas));
    await agrees();
  });

  test('an earlier attempt that is executed after all settles the transfer', async () => {
    let hidden = true;
    await serve({
      chain: {
        broadcast: async (input) => {
          if (input.attempt > 1) {
            // the first was sent by another party after all
            const [first] = await fixture.attempts(input.txId);
            await fixture.anvil.client.sendRawTransaction({ serializedTransaction: first?.signed as Hex });
            await fixture.mine();
            hidden = false;
            return fixture.onChain.broadcast(input);
          }
          return { outcome: 'rejected', reason: 'no such thing' };
        },
        observe: async (input) =>
          hidden ? { state: 'absent', hash: null, blockNumber: null, confirmations: 0 } : fixture.onChain.observe(input),
      },
    });
    const txId = await submit();
    await parked(txId);
    await operations().abandon(txId);
    await ends(txId, 'CONFIRMED');
    expect(await kinds(txId)).toEqual(['first', 'cancellation']);
    await agrees();
    await record(txId, 'transfer-confirmed-abandoned-too-late');
  });

  test('fees beyond the bound: refused and parked again; a retry then continues the transfer itself', async () => {
    let dear = true;
    await serve({
      sign: (request) => {
        if (dear) refuse(request);
      },
      chain: {
        prepareAttempt: async (input) => {
          const prepared = await fixture.onChain.prepareAttempt(input);
          return input.kind === 'cancellation' ? { ...prepared, feeBound: (21_000n * ether).toString() } : prepared;
        },
      },
    });
    const txId = await submit();
    await parked(txId);
    await operations().abandon(txId);
    await until('refused', async () => (await fixture.transaction(txId)).failure_code === 'fee_above_bound');
    expect(await status(txId)).toBe('NEEDS_ATTENTION');
    expect(await kinds(txId)).toEqual(['first']);
    const requested = () => isAbandonRequested(fixture.database.manager, txId, 1);
    expect(await requested()).toBe(true);
    dear = false;
    await operations().retry(txId);
    expect(await requested()).toBe(false);
    await confirmed(txId);
    await record(txId, 'transfer-confirmed-cancellation-refused');
  });

  test('refused before signing has begun, and where the nonce is used up', async () => {
    let away = true;
    await serve({
      chain: {
        prepareAttempt: (input) => {
          if (away) throw ApplicationFailure.create({ type: 'chain_unavailable', message: 'away' });
          return fixture.onChain.prepareAttempt(input);
        },
      },
      ledger: {
        settleTransfer: async ({ txId }) => {
          const parking = { code: 'transfer_not_observed', reason: 'nothing moved' } as const;
          await fixture.ledger.parkTransfer({ txId, ...parking });
          return { status: 'NEEDS_ATTENTION', ...parking };
        },
      },
    });
    const txId = await submit();
    const handle = client().workflow.getHandle(transferWorkflowId(txId));
    const refusedByBoth = async () => {
      await expect(operations().abandon(txId)).rejects.toMatchObject({ code: 'business_error' });
      await expect(handle.executeUpdate(abandonUpdate)).rejects.toMatchObject({ cause: { type: 'business_error' } });
    };
    await fixture.ledger.parkTransfer({ txId, code: 'chain_unavailable', reason: 'away' });
    await refusedByBoth();
    away = false;
    await until('sent', async () => (await status(txId)) === 'SUBMITTED');
    await ends(txId, 'NEEDS_ATTENTION');
    await refusedByBoth();
    expect(await kinds(txId)).toEqual(['first']);
    await record(txId, 'transfer-needs-attention-not-abandonable', { isOpen: true });
  });

  test('lost while its cancellation waits for signatures: started again, the same cancellation is signed at once', async () => {
    let refuseAll = true;
    const signed: string[] = [];
    await serve({
      sign: (request) => {
        if (refuseAll) refuse({ kind: 'transfer' });
        signed.push(request.kind);
      },
    });
    const txId = await submit();
    await parked(txId);
    await operations().abandon(txId);
    await until('parked again', async () => (await kinds(txId)).length > 1 && (await status(txId)) === 'NEEDS_ATTENTION');
    await client().workflow.getHandle(transferWorkflowId(txId)).terminate();
    await expect(operations().abandon(txId)).rejects.toMatchObject({ code: 'business_error' });
    refuseAll = false;
    expect(await operations().retry(txId)).toBe('started again');
    await ends(txId, 'FAILED');
    expect(new Set(signed)).toEqual(new Set(['cancellation']));
    expect(await kinds(txId)).toEqual(['first', 'cancellation']);
    await agrees();
    await record(txId, 'transfer-failed-abandoned-run-lost');
  });
});
