import { ApplicationFailure } from '@temporalio/common';
import { getFamily } from '../../../src/chains/families';
import type { Hex, Prepared } from '../../../src/chains/types';
import { statusQuery, timelineQuery } from '../../../src/messages/progress';
import { type ChainObservation, chainObservedSignal } from '../../../src/messages/transfer';
import { transferWorkflowId } from '../../../src/messages/workflow-ids';
import { transferWorkflowsOn } from '../../../src/transfers/start/workflows';
import { toAttemptIntent } from '../../../src/transactions/intent';
import { prepared } from '../ledger/fixture';
import { startRpcProxy } from '../chains/rpc-proxy';
import type { FollowFixture } from '../following/fixture';
import { listAddress } from '../screening/factors';
import { booksAgree, type Changes, ether, ServedWorkflows, until, whenLate } from './served';

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
  // the retry finds one in a block, and not one that waits for too long
  await fixture.mine();
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

test('what no node takes, for another reason than its price, is not signed again: an operator sees the reason, and may have it sent at once', async () => {
  let isRefused = true;
  const reason = 'nonce too high: earlier ones are not executed';
  await served.serve({
    chain: {
      broadcast: (input) =>
        isRefused ? Promise.resolve({ outcome: 'waiting', reason, passing: 'view' }) : fixture.onChain.broadcast(input),
      observe: (input) => (isRefused ? Promise.resolve(seen('absent')) : fixture.onChain.observe(input)),
    },
  });
  const txId = await served.submit();
  await parkedAs(txId, 'broadcast_rejected');
  expect([await kinds(txId), (await fixture.transaction(txId)).failure_message]).toEqual([['first'], reason]);
  isRefused = false;
  await served.operations.retry(txId);
  await served.ends(txId, 'CONFIRMED');
  await booksAgree(fixture);
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

test('a cancellation that is refused although nothing was executed is parked with the reason, and asked for again', async () => {
  let isRefused = true;
  const reason = 'It needs more outputs than one transaction can spend';
  await served.serve({
    chain: {
      broadcast: (input) =>
        input.attempt === 1
          ? Promise.resolve({ outcome: 'rejected', reason: 'no such thing' })
          : fixture.onChain.broadcast(input),
      observe: (input) => (isRefused ? Promise.resolve(seen('absent')) : fixture.onChain.observe(input)),
    },
    authoriser: {
      beginSigning: (input) =>
        input.kind === 'cancellation' && isRefused
          ? Promise.resolve({ outcome: 'refused', code: 'business_error', reason })
          : fixture.ledger.beginSigning(input),
    },
  });
  const txId = await served.submit();
  await parkedAs(txId, 'broadcast_rejected');
  expect(await served.operations.abandon(txId)).toBe('abandoning');
  await parkedAs(txId, 'business_error');
  expect(await kinds(txId)).toEqual(['first']);
  isRefused = false;
  expect(await served.operations.abandon(txId)).toBe('abandoning');
  await served.ends(txId, 'FAILED');
  expect(await fixture.transaction(txId)).toMatchObject({ failure_code: 'abandoned' });
  expect(await kinds(txId)).toEqual(['first', 'cancellation']);
  await booksAgree(fixture);
  await record(txId, 'transfer-failed-cancellation-refused-first');
});

test('an attempt that a block holds by the time of its replacement is confirmed, and not replaced', async () => {
  let isHidden = true;
  await served.serve({
    chain: { observe: (input) => (isHidden ? Promise.resolve(seen('absent')) : fixture.onChain.observe(input)) },
    authoriser: {
      beginSigning: async (input) => {
        if (input.kind === 'replacement') {
          await fixture.mine();
          await fixture.follow();
          isHidden = false;
        }
        return fixture.ledger.beginSigning(input);
      },
    },
  });
  const txId = await served.submit();
  // without signals: told of the block, the run would not ask for a replacement
  await until('confirmed', async () => {
    await fixture.mine();
    await fixture.follow();
    return (await served.status(txId)) === 'CONFIRMED';
  });
  expect(isHidden).toBe(false);
  expect(await kinds(txId)).toEqual(['first']);
  await booksAgree(fixture);
  await record(txId, 'transfer-confirmed-executed-before-replacement');
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

test('what has succeeded without moving anything fails once it is final, and everything but the fee is unlocked', async () => {
  const address = fixture.chain.tokens.find(({ symbol }) => symbol === 'USDC')?.contract as Hex;
  const bytecode = (await fixture.anvil.client.getCode({ address })) as Hex;
  const activities = fixture.at(fixture.anvil.url, fixture.anvil.url);
  await served.serve({
    chain: {
      ...activities,
      broadcast: async (input) => {
        // the token returns success and moves nothing
        await fixture.anvil.client.setCode({ address, bytecode: '0x600160005260206000f3' });
        return activities.broadcast(input);
      },
    },
  });
  const txId = await served.submit();
  // the follower looks too: at both endpoints
  const follow = async () => {
    await fixture.mine();
    await fixture.follow({ observe: (id) => activities.observe({ txId: id }) });
  };
  await until('executed', async () => {
    await follow();
    return (await fixture.attempts(txId)).some(({ success }) => success === true);
  });
  await fixture.anvil.client.setCode({ address, bytecode });
  await until('it has ended', async () => {
    await follow();
    return (await served.status(txId)) === 'FAILED';
  });
  expect(await fixture.transaction(txId)).toMatchObject({ failure_code: 'transfer_not_observed' });
  await booksAgree(fixture);
  await record(txId, 'transfer-failed-not-observed');
});

describe('the line of a sender', () => {
  const refuse = () => {
    throw ApplicationFailure.create({ type: 'intent_mismatch', message: 'no', nonRetryable: true });
  };
  const isWaiting = (txId: string) =>
    until('it waits behind the other', async () => {
      const progress = await run(txId).query(statusQuery);
      return progress.step === 'prepare' && progress.detail.includes('waits for an operator');
    });

  test('nothing is signed behind a parked transfer; a retry of that one lets the others go on by themselves, and a client may cancel them', async () => {
    let first: string | undefined;
    let isRefused = true;
    const signed: string[] = [];
    const behind = new Set<string>();
    await served.serve({
      ledger: {
        readTurn: async (input) => {
          const turn = await fixture.ledger.readTurn(input);
          if (turn.outcome === 'behind') behind.add(input.txId);
          return turn;
        },
      },
      sign: ({ tx_id: txId }) => {
        signed.push(txId);
        if (txId === (first ??= txId) && isRefused) refuse();
      },
    });
    const parked = await served.submit({ amount: '1' });
    await parkedAs(parked, 'intent_mismatch');
    const [cancelled, ...others] = [
      await served.submit({ amount: '1' }),
      await served.submit({ amount: '1' }),
      await served.submit({ amount: '1' }),
    ];
    for (const txId of [cancelled, ...others]) await isWaiting(txId);
    await until('the others have asked for their turn', () => Promise.resolve(others.every((txId) => behind.has(txId))));
    expect([...new Set(signed)]).toEqual([parked]);
    await fixture.ledger.cancelTransfer({ txId: cancelled });
    expect(await transferWorkflowsOn(served.client).signal(cancelled, 'ended')).toBe('sent');
    expect(await run(cancelled).result()).toMatchObject({ status: 'CANCELLED' });

    isRefused = false;
    await served.operations.retry(parked);
    for (const txId of [parked, ...others]) await served.ends(txId, 'CONFIRMED');
    expect(await kinds(cancelled)).toEqual([]);
    const [shown] = others;
    await run(shown).result();
    await record(shown, 'transfer-confirmed-behind-parked');
    await record(cancelled, 'transfer-cancelled-behind-parked');
  });

  test('what waits for one in front that is not executed is neither replaced nor parked, however long that takes', async () => {
    let sign: () => void = () => undefined;
    const mayBeSigned = new Promise<void>((resolve) => (sign = resolve));
    let head: string | undefined;
    await served.serve({
      sign: async ({ tx_id: txId }) => {
        if (txId === (head ??= txId)) await mayBeSigned;
      },
    });
    try {
      head = await served.submit({ amount: '1' });
      await until('begun', async () => (await served.status(String(head))) === 'SIGNING');
      const next = await served.submit({ amount: '1' });
      await until('sent', async () => (await served.status(next)) === 'SUBMITTED');
      await new Promise((resolve) => setTimeout(resolve, 6 * fixture.chain.stuckAfterMs));
      expect([await kinds(next), await served.status(next)]).toEqual([['first'], 'SUBMITTED']);
      sign();
      // now it is the head, and gets the time of a few blocks
      await run(next).signal(chainObservedSignal, seen('pending'));
      for (const txId of [head, next]) await served.ends(txId, 'CONFIRMED');
      expect(await kinds(next)).toEqual(['first']);
      await run(next).result();
      await record(next, 'transfer-confirmed-behind-unexecuted');
    } finally {
      sign();
    }
  });
});

describe('a lost transaction of the same key has used up the nonce', () => {
  /** Signed by the same key and known to no row, as one that a restored database lacks; final at once. */
  async function executeLost(txId: string): Promise<void> {
    const family = getFamily('evm');
    const [first] = await fixture.attempts(txId);
    const unsigned = first?.unsigned as Hex;
    const [from, kind] = [fixture.alice.address, 'cancellation'] as const;
    const { resources } = family.describe(unsigned);
    const intent = toAttemptIntent({ from, outputs: [] }, kind);
    const lost = family.build({ chain: fixture.chain, intent, kind, prepared: family.recover(unsigned, ether), resources });
    const { bytes } = family.assemble(lost, fixture.signatures(lost, from), from);
    expect(await fixture.client.broadcast(bytes)).toEqual({ outcome: 'accepted' });
    await fixture.mine(fixture.chain.finalityDepth);
  }

  /** Serves a chain that has executed the lost transaction when the first attempt is sent. `isLate`: as `whenLate`. */
  async function submitted(changes: Changes = {}, isLate = false): Promise<string> {
    let isLostSent = false;
    await served.serve({
      ...changes,
      chain: {
        broadcast: async (input) => {
          if (!isLostSent) await executeLost(input.txId);
          isLostSent = true;
          return isLate ? whenLate(await fixture.onChain.broadcast(input)) : fixture.onChain.broadcast(input);
        },
        ...changes.chain,
      },
    });
    return served.submit();
  }

  const held = async () => (await fixture.balance(fixture.alice, 'USDC')).locked;

  test('parked, also after a retry; an abandon ends it by the proof, and the account goes on', async () => {
    const txId = await submitted();
    await parkedAs(txId, 'stuck');
    expect(await served.operations.retry(txId)).toBe('retrying');
    const parks = async () => (await run(txId).query(timelineQuery)).filter(({ step }) => step === 'park').length;
    await until('parked again', async () => (await parks()) === 2);
    expect(await held()).toBe(5_000_000n);
    await expect(fixture.ledger.failByProof({ txId })).rejects.toMatchObject({ code: 'not_cancellable' });
    expect(await served.operations.abandon(txId)).toBe('abandoning');
    await until('ended', async () => (await served.status(txId)) === 'FAILED');
    expect(await fixture.transaction(txId)).toMatchObject({ failure_code: 'abandoned', tx_hash: null });
    expect(await kinds(txId)).toEqual(['first']);
    const [first] = await fixture.attempts(txId);
    expect(first?.impossible_proof).toMatchObject({ nonce: 0, used_by: expect.stringMatching(/^0x/) });
    expect(await held()).toBe(0n);
    await record(txId, 'transfer-failed-nonce-used-asked-again');
    await served.ends(await served.submit(), 'CONFIRMED');
  });

  test('shown by two endpoints: it ends by itself, unlocked, and the account goes on', async () => {
    const { url } = fixture.anvil;
    const txId = await submitted({ chain: { observe: (input) => fixture.at(url, url).observe(input) } });
    await expect(run(txId).result()).rejects.toMatchObject({ cause: { type: 'superseded' } });
    const [first] = await fixture.attempts(txId);
    const { used_by: usedBy } = first?.impossible_proof as { used_by: string };
    expect(first?.impossible_proof).toMatchObject({ nonce: 0, agreed_by: 2, ends: true });
    expect(await fixture.transaction(txId)).toMatchObject({
      ...{ status: 'FAILED', failure_code: 'superseded', tx_hash: null },
      failure_message: expect.stringContaining(usedBy) as string,
    });
    expect(await kinds(txId)).toEqual(['first']);
    expect(await held()).toBe(0n);
    await record(txId, 'transfer-failed-superseded');
    await served.ends(await served.submit(), 'CONFIRMED');
  });

  test('parked with the proof of one endpoint: once a second one is configured, a retry ends it', async () => {
    const { url } = fixture.anvil;
    let urls = [url];
    const txId = await submitted({ chain: { observe: (input) => fixture.at(...urls).observe(input) } });
    await parkedAs(txId, 'stuck');
    urls = [url, url];
    await served.operations.retry(txId);
    await expect(run(txId).result()).rejects.toMatchObject({ cause: { type: 'superseded' } });
    expect(await held()).toBe(0n);
  });

  test('parked with the proof of one endpoint: an abandon asks every one that is configured by then, and is refused where one shows something else', async () => {
    const { url } = fixture.anvil;
    let urls = [url];
    const txId = await submitted({ chain: { observe: (input) => fixture.at(...urls).observe(input) } });
    await parkedAs(txId, 'stuck');
    const { used_by: usedBy } = (await fixture.attempts(txId))[0]?.impossible_proof as { used_by: string };
    const other = await startRpcProxy(url, ({ method, params }) =>
      method === 'eth_getTransactionByHash' && params[0] === usedBy ? { result: null } : undefined,
    );
    const refused = () =>
      until('refused', async () => String((await fixture.transaction(txId)).failure_message).startsWith('Not abandoned'));
    try {
      urls = [url, other.url];
      expect(await served.operations.abandon(txId)).toBe('abandoning');
      await refused();
    } finally {
      other.close();
    }
    expect(await served.status(txId)).toBe('NEEDS_ATTENTION');
    expect(await held()).toBe(5_000_000n);
    await record(txId, 'transfer-needs-attention-not-proven', { isOpen: true });
    urls = [url, url];
    expect(await served.operations.abandon(txId)).toBe('abandoning');
    await until('ended', async () => (await served.status(txId)) === 'FAILED');
    expect(await fixture.transaction(txId)).toMatchObject({ failure_code: 'abandoned', tx_hash: null });
    expect(await held()).toBe(0n);
  });

  test('parked with the proof of one endpoint, which shows another chain by now: an abandon is refused, and nothing is sent', async () => {
    const { client } = fixture.anvil;
    const txId = await submitted();
    await parkedAs(txId, 'stuck');
    await client.request({ method: 'anvil_reorg', params: [fixture.chain.finalityDepth, []] } as never);
    const from = fixture.alice.address as Hex;
    expect(await client.getTransactionCount({ address: from, blockTag: 'pending' })).toBe(0);
    expect(await served.operations.abandon(txId)).toBe('abandoning');
    await until('refused', async () => String((await fixture.transaction(txId)).failure_message).startsWith('Not abandoned'));
    expect(await held()).toBe(5_000_000n);
    expect(await client.getTransactionCount({ address: from, blockTag: 'pending' })).toBe(0);
  });

  test('parked with the proof of one endpoint, and executed by now: an abandon ends nothing, and it is settled', async () => {
    const txId = await submitted();
    await parkedAs(txId, 'stuck');
    await fixture.anvil.client.request({ method: 'anvil_reorg', params: [fixture.chain.finalityDepth, []] } as never);
    const [first] = await fixture.attempts(txId);
    expect(await fixture.client.broadcast(first?.signed as Hex)).toEqual({ outcome: 'accepted' });
    await fixture.mine();
    expect(await served.operations.abandon(txId)).toBe('abandoning');
    await served.ends(txId, 'CONFIRMED');
    expect(await kinds(txId)).toEqual(['first']);
    await booksAgree(fixture);
    await record(txId, 'transfer-confirmed-executed-when-asked-again');
  });

  test('abandoned before that is known: its cancellation is as impossible, and it ends without a further request', async () => {
    let isKnown = false;
    const observe: NonNullable<NonNullable<Changes['chain']>['observe']> = (input) =>
      isKnown ? fixture.onChain.observe(input) : Promise.resolve(seen('absent'));
    const txId = await submitted({ chain: { observe } }, true);
    await parkedAs(txId, 'broadcast_rejected');
    expect(await served.operations.abandon(txId)).toBe('abandoning');
    await until('its cancellation is begun', async () => (await kinds(txId)).length === 2);
    await parkedAs(txId, 'broadcast_rejected');
    isKnown = true;
    await served.operations.retry(txId);
    await until('ended', async () => (await served.status(txId)) === 'FAILED');
    expect(await fixture.transaction(txId)).toMatchObject({ failure_code: 'abandoned', tx_hash: null });
    expect(await kinds(txId)).toEqual(['first', 'cancellation']);
    for (const { impossible_proof: proof } of await fixture.attempts(txId)) expect(proof).toMatchObject({ nonce: 0 });
    expect(await held()).toBe(0n);
    await record(txId, 'transfer-failed-nonce-used-cancelled');
  });

  test('a proof that is not on record unlocks nothing, whoever says that the attempts are impossible', async () => {
    const txId = await submitted({ chain: { observe: () => Promise.resolve(seen('impossible')) } });
    await parkedAs(txId, 'stuck');
    expect(await served.operations.abandon(txId)).toBe('abandoning');
    await parkedAs(txId, 'not_cancellable');
    expect(await held()).toBe(5_000_000n);
    await record(txId, 'transfer-needs-attention-nonce-unproven', { isOpen: true });
  });
});
