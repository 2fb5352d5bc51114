import { secp256k1 } from '@noble/curves/secp256k1.js';
import { ApplicationFailure } from '@temporalio/common';
import type { Hex } from 'viem';
import { evmFamily } from '../../../src/chains/evm/family';
import type { NotCancelled } from '../../../src/messages/transfer';
import { cancelReopenedWorkflowId } from '../../../src/messages/workflow-ids';
import { createDatabase } from '../../../src/platform/database';
import { Alarms } from '../../../src/platform/alarms';
import { correctReorged } from '../../../src/transfers/confirm/reconcile-reorg';
import { findUnexecutedBefore } from '../../../src/transfers/line';
import { isReopened } from '../../../src/transfers/reopened';
import { startCancelReopened } from '../../../src/transfers/start/workflows';
import { digestOf } from '../../evm';
import { randomAddress } from '../../factories';
import { booksAgree, type Changes, createFundedFixture, ServedChain, until } from './served';

jest.setTimeout(120_000);

/** Transfers that have failed in a final block which the chain takes back all the same. */

const finalityDepth = 6;
const served = new ServedChain(() => createFundedFixture(5_000, { finalityDepth }));

/** For each cancellation that the follower has asked for: it had read the chain again up to where the block was. */
let asked: boolean[] = [];
beforeEach(() => {
  asked = [];
});

/** Heartbeats of a follower that finds a fork some hundred blocks below, and reads up to the head again. */
const deep = 40;

/** As the worker follows; the log is that of the test. `beats`: after so many heartbeats it ends; undefined: at the head. */
const follow = (alerts: unknown[] = [], beats?: number) => {
  const { options, client } = served.fixture;
  const logger = Object.create(options.logger, {
    error: { value: (facts: unknown) => void alerts.push(facts) },
    child: { value: () => logger },
  }) as typeof options.logger;
  const cancelReopened = async (txId: string) => {
    const [row] = await served.fixture.database.query<{ is_read: boolean }[]>(
      'select c.next_block > t.block_number as is_read from transactions t join chain_cursors c on c.chain = t.chain where t.tx_id = $1',
      [txId],
    );
    asked.push(row?.is_read === true);
    return startCancelReopened(served.client, txId);
  };
  const onConfirmedReorged = (txId: string) =>
    correctReorged({ ...options, cancelReopened, logger, alarms: new Alarms(logger), client }, { txId });
  const stop = new AbortController();
  let left = beats ?? 0;
  const heartbeat = () => {
    if ((left -= 1) === 0) stop.abort();
  };
  return served.fixture.follow({ logger, onConfirmedReorged, ...(beats !== undefined && { heartbeat, signal: stop.signal }) });
};

/** Mines and follows. */
const step = async (alerts?: unknown[]) => {
  await served.fixture.mine();
  await follow(alerts);
};

const attempts = async (txId: string) =>
  (await served.fixture.attempts(txId)).map(
    ({ kind, block_number: block }) => `${String(kind)}${block === null ? '' : ' included'}`,
  );
/** One cancellation is included; on a slow machine another one is signed, once the first has had the chain's time in vain. */
const expectCancelled = async (txId: string) => {
  const [first, ...cancellations] = await attempts(txId);
  expect(first).toBe('first');
  expect(cancellations.filter((attempt) => attempt !== 'cancellation')).toEqual(['cancellation included']);
};
const stands = async (txId: string) => {
  const { block_hash: hash } = await served.fixture.transaction(txId);
  return (await served.fixture.attempts(txId)).some(({ block_hash: included }) => included === hash);
};
const nonceOf = () => served.fixture.anvil.client.getTransactionCount({ address: served.fixture.alice.address as Hex });
const balanceOf = (address: string) => served.fixture.anvil.client.getBalance({ address: address as Hex });

const runOf = (txId: string) => served.client.workflow.getHandle(cancelReopenedWorkflowId(txId));
/** The workers of the next test would run it. */
const endRun = (txId: string) =>
  runOf(txId)
    .terminate()
    .catch(() => undefined);

/**
 * A transfer that has failed and is final, reorganised away below finality, and a later one of the same account that was confirmed before that,
 * or was sent and is in no block. The first one would be executed now.
 */
async function reopened(
  changes: Changes = {},
  laterIs: 'confirmed' | 'sent' = 'confirmed',
): Promise<{ txId: string; later: string; to: string; alerts: unknown[] }> {
  const { fixture } = served;
  const submitLater = () => served.submit({ tokenSymbol: 'USDC', amount: '1', toAddress: fixture.bob.address });
  const { client } = fixture.anvil;
  await served.serve(changes);
  const to = randomAddress();
  const txId = await served.submit({ tokenSymbol: 'ETH', amount: '0.1', toAddress: to });
  await until('signed', async () => (await served.status(txId)) === 'SUBMITTED');
  await client.setCode({ address: to as Hex, bytecode: '0x60006000fd' });
  await served.ends(txId, 'FAILED');
  const confirmed = laterIs === 'confirmed' ? await submitLater() : undefined;
  if (confirmed !== undefined) await served.ends(confirmed, 'CONFIRMED');
  await until('final', async () => {
    await step();
    return (await fixture.transaction(txId)).finalized_at !== null;
  });
  const later = confirmed ?? (await submitLater());
  await until('sent', async () => (await served.status(later)) !== 'PENDING' && (await served.status(later)) !== 'SIGNING');

  const head = await client.getBlockNumber();
  const depth = Number(head - BigInt(String((await fixture.transaction(txId)).block_number))) + 1;
  await client.request({ method: 'anvil_reorg', params: [depth, []] } as never);
  await client.setCode({ address: to as Hex, bytecode: '0x' });
  expect(await nonceOf()).toBe(0);
  const alerts: unknown[] = [];
  await follow(alerts, deep);
  expect(alerts).toContainEqual(expect.objectContaining({ alert: 'refund_not_final', tx_id: txId }));
  return { txId, later, to, alerts };
}

/** The chain does not answer what a cancellation needs. */
const notPrepared: Changes['chain'] = {
  prepareAttempt: (input) =>
    input.kind === 'cancellation' ? Promise.reject(new Error('not answered')) : served.fixture.onChain.prepareAttempt(input),
};

/** What operators are told about cancellations that do not come about. */
const reports = () => {
  const reported: NotCancelled[] = [];
  const reportNotCancelled = (input: NotCancelled) => (reported.push(input), Promise.resolve());
  return { reported, ledger: { reportNotCancelled } };
};

const frozen = async () =>
  (
    await served.fixture.database.query<{ symbol: string }[]>(
      'select symbol from ledger_accounts where frozen_reason is not null',
    )
  ).map(({ symbol }) => symbol);

test('a reverted transfer that is reorganised away after its finality has its nonce used up by a cancellation, so that later ones go on', async () => {
  const { txId, later, to, alerts } = await reopened();
  // as soon as the follower has read up to where its block was, and not before
  expect(asked).toEqual([true]);
  await until('both stand again', async () => {
    await step(alerts);
    return (await stands(txId)) && (await stands(later));
  });
  await expectCancelled(txId);
  expect(await attempts(later)).toEqual(['first included']);
  expect(await nonceOf()).toBe(2);
  expect(await balanceOf(to)).toBe(0n);
  // its end stays what it was, at the fee of the cancellation; the books agree with the chain
  const [first, ...cancellations] = await served.fixture.attempts(txId);
  const cancellation = cancellations.find(({ block_number: block }) => block !== null);
  expect(await served.fixture.transaction(txId)).toMatchObject({
    ...{ status: 'FAILED', failure_code: 'reverted_on_chain', tx_hash: cancellation?.tx_hash },
    failure_message: `${String(first?.tx_hash)} was reverted on chain; after a reorganisation the cancellation ${String(cancellation?.tx_hash)} has taken its place`,
  });
  await booksAgree(served.fixture);
  expect(await frozen()).toEqual(['ETH']);
  expect(alerts).not.toContainEqual(expect.objectContaining({ alert: 'ended_transfer_changed' }));
  await until('final again', async () => {
    await step();
    return (await served.fixture.transaction(txId)).finalized_at !== null;
  });
  await expectCancelled(txId);
  await served.record(cancelReopenedWorkflowId(txId), 'cancel-reopened');
  // what is final again, and what was never reopened
  for (const id of [txId, later]) {
    await startCancelReopened(served.client, id);
    await served.client.workflow.getHandle(cancelReopenedWorkflowId(id)).result();
    expect((await attempts(id)).filter((attempt) => attempt.endsWith('included'))).toHaveLength(1);
  }
  await served.record(cancelReopenedWorkflowId(later), 'cancel-reopened-not-due');
});

test('executed after all before its cancellation: booked as changed and frozen, and nothing else is signed for it', async () => {
  const { txId, to, alerts } = await reopened({ chain: notPrepared });
  const [first] = await served.fixture.attempts(txId);
  await served.fixture.client.broadcast(first?.signed as Hex);
  await step(alerts);
  await step(alerts);
  expect(await balanceOf(to)).toBe(10n ** 17n);
  expect(alerts).toContainEqual({ alert: 'ended_transfer_changed', tx_id: txId });
  expect(await attempts(txId)).toEqual(['first included']);
  expect(await served.fixture.ledger.beginSigning({ ...cancellationOf(txId), prepared: first?.prepared as never })).toEqual({
    outcome: 'ended',
    status: 'FAILED',
  });
  await endRun(txId);
});

test('nodes that refuse its cancellation: the run fails with their reason, and a later one has it signed', async () => {
  let refuses = true;
  const { reported, ledger } = reports();
  const { txId, to, alerts } = await reopened({
    ledger,
    sign: ({ kind }) => {
      if (kind === 'cancellation' && refuses)
        throw ApplicationFailure.create({ type: 'intent_mismatch', message: 'not this one', nonRetryable: true });
    },
  });
  const reason = expect.stringContaining('not this one') as string;
  await expect(runOf(txId).result()).rejects.toMatchObject({ cause: { type: 'intent_mismatch', message: reason } });
  expect(reported).toEqual([{ txId, chain: served.fixture.chain.name, code: 'intent_mismatch', reason }]);
  await served.record(cancelReopenedWorkflowId(txId), 'cancel-reopened-refused');
  expect(await attempts(txId)).toEqual(['first', 'cancellation']);
  refuses = false;
  await until('it stands again', async () => {
    await step(alerts);
    return stands(txId);
  });
  await expectCancelled(txId);
  expect(await balanceOf(to)).toBe(0n);
});

test.each<[string, string, string, () => Changes]>([
  [
    'has to wait for an earlier one',
    'business_error',
    'cancel-reopened-behind',
    () => ({
      authoriser: {
        beginSigning: (input) =>
          input.kind === 'cancellation'
            ? Promise.resolve({ outcome: 'refused', code: 'business_error', reason: 'that one first', isFollowed: true })
            : served.fixture.ledger.beginSigning(input),
      },
    }),
  ],
  [
    'cannot be prepared',
    'not_found',
    'cancel-reopened-not-prepared',
    () => ({
      chain: {
        prepareAttempt: (input) =>
          input.kind === 'cancellation'
            ? Promise.reject(ApplicationFailure.create({ type: 'not_found', message: 'that one first', nonRetryable: true }))
            : served.fixture.onChain.prepareAttempt(input),
      },
    }),
  ],
])(
  'a cancellation that %s: nothing is sent, and the run fails with the reason, which operators see',
  async (_, code, name, changes) => {
    const { reported, ledger } = reports();
    const { txId } = await reopened({ ...changes(), ledger });
    const reason = 'that one first';
    await expect(runOf(txId).result()).rejects.toMatchObject({ cause: { type: code, message: reason } });
    expect(reported).toEqual([{ txId, chain: served.fixture.chain.name, code, reason }]);
    expect(await attempts(txId)).toEqual(['first']);
    await served.record(cancelReopenedWorkflowId(txId), name);
  },
);

test('a later transfer that was sent and waits behind it is neither replaced nor parked, and goes on once the cancellation is in', async () => {
  let isAnswered = false;
  const { txId, later, alerts } = await reopened(
    {
      chain: {
        prepareAttempt: (input) =>
          input.kind === 'cancellation' && !isAnswered
            ? Promise.reject(new Error('not answered'))
            : served.fixture.onChain.prepareAttempt(input),
      },
    },
    'sent',
  );
  expect(await served.fixture.onChain.observe({ txId: later })).toMatchObject({ isBehind: true });
  // on a slow machine there may be a replacement from before it was behind
  const before = await attempts(later);
  expect(before[0]).toBe('first');
  // twice as long as it would be patient as the first of its line
  await new Promise((resolve) => setTimeout(resolve, 2 * served.fixture.chain.stuckAfterMs));
  expect([await attempts(later), await served.status(later)]).toEqual([before, 'SUBMITTED']);
  isAnswered = true;
  await until('both are executed', async () => {
    await step(alerts);
    return (await stands(txId)) && (await served.status(later)) === 'CONFIRMED';
  });
  await expectCancelled(txId);
  expect((await attempts(later)).filter((attempt) => attempt.endsWith(' included'))).toHaveLength(1);
  await booksAgree(served.fixture);
});

/** Another transaction of the account, with the nonce of the reopened one: nobody of the gateway has signed it. */
async function useUpNonce(txId: string): Promise<string> {
  const { attempts: rows, alice, bob, wallet, chain, client } = served.fixture;
  const [first] = (await rows(txId)) as unknown as { unsigned: Hex; prepared: { details: object } }[];
  if (!first) throw new Error('it has no attempt');
  const theirs = evmFamily.build({
    ...{ chain, kind: 'first', resources: evmFamily.describe(first.unsigned).resources },
    intent: { from: alice.address, outputs: [{ recipient: bob.address, tokenContract: null, amount: 7n }] },
    prepared: { ...first.prepared, details: { ...first.prepared.details, maxFeePerGas: '90000000000' } } as never,
  });
  const { privateKey } = wallet.key.derive(alice.derivationPath);
  const digest = Buffer.from(digestOf(theirs, alice.address).slice(2), 'hex');
  const [recovery, ...rs] = secp256k1.sign(digest, privateKey as Uint8Array, { prehash: false, format: 'recovered' });
  const signature: Hex = `0x${Buffer.from([...rs, recovery as number]).toString('hex')}`;
  const { id, bytes } = evmFamily.assemble(theirs, [signature], alice.address);
  expect(await client.broadcast(bytes)).toEqual({ outcome: 'accepted' });
  return id;
}

test('a nonce that a transaction from elsewhere has used up: nothing waits behind it once that one is final, with an alert, and no cancellation is signed', async () => {
  const { manager } = served.fixture.database;
  const { txId, later, alerts } = await reopened({ chain: notPrepared }, 'sent');
  await endRun(txId);
  expect(await findUnexecutedBefore(manager, later)).toBe(txId);
  const usedBy = await useUpNonce(txId);
  const spentElsewhere = expect.objectContaining({ alert: 'spent_elsewhere', tx_id: txId, used_by: usedBy }) as object;
  asked = [];
  for (let depth = 1; depth < finalityDepth; depth += 1) await step(alerts);
  expect(await findUnexecutedBefore(manager, later)).toBe(txId);
  expect(await isReopened(manager, txId)).toBe(true);
  expect(alerts).not.toContainEqual(spentElsewhere);
  await step(alerts);
  expect(await findUnexecutedBefore(manager, later)).toBeUndefined();
  expect(await isReopened(manager, txId)).toBe(false);
  expect(alerts.filter((alert) => (alert as { alert: string }).alert === 'spent_elsewhere')).toEqual([spentElsewhere]);
  // nothing is asked for in vain, and nothing is said twice
  alerts.length = 0;
  await until('the later one is executed', async () => {
    await step(alerts);
    return (await served.status(later)) === 'CONFIRMED';
  });
  expect([asked, await attempts(txId), await attempts(later), alerts]).toEqual([[], ['first'], ['first included'], []]);
  expect(await served.status(txId)).toBe('FAILED');
});

test('nothing of it is begun but a cancellation, whoever asks', async () => {
  const { fixture } = served;
  const { txId } = await reopened({ chain: notPrepared });
  const [first] = await fixture.attempts(txId);
  const prepared = first?.prepared as never;
  const begin = (request: object) => fixture.ledger.beginSigning({ txId, lastAttempt: 1, ...request } as never);
  const ended = { outcome: 'ended', status: 'FAILED' };
  for (const kind of ['replacement', 'reissue'] as const) expect(await begin({ kind, prepared })).toEqual(ended);
  expect(await begin({ kind: 'resume' })).toEqual(ended);
  // the logins that ask
  const urls = await fixture.logins();
  for (const role of ['gateway_authoriser', 'gateway_worker'] as const) {
    const login = await createDatabase({ url: urls[role], poolSize: 1, applicationName: 'test' }).initialize();
    expect(await isReopened(login.manager, txId)).toBe(true);
    await login.destroy();
  }
  const insert = fixture.database.query(
    `insert into transfer_attempts (tx_id, attempt, kind, chain, prepared, unsigned, signers, message_key, fee_bound)
     select tx_id, 2, 'replacement', chain, prepared, unsigned, signers, 'another', fee_bound from transfer_attempts where tx_id = $1`,
    [txId],
  );
  await expect(insert).rejects.toThrow('no open transaction');
  expect(await fixture.onChain.observe({ txId })).toMatchObject({ state: 'absent' });
  expect(await fixture.anvil.client.getTransactionCount({ address: fixture.alice.address as Hex, blockTag: 'pending' })).toBe(0);
  await endRun(txId);
});

const cancellationOf = (txId: string) => ({ txId, lastAttempt: 1, kind: 'cancellation' as const });
