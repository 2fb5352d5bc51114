import { type Hex, parseEther } from 'viem';
import type { FeeLevels } from '../../../src/chains/types';
import { followChain } from '../../../src/following/follower';
import { FundingMemory } from '../../../src/following/funding-memory';
import { ObservationNotifier } from '../../../src/following/observation-notifier';
import type { SignalTransfer } from '../../../src/following/ports';
import type { FollowerHeartbeat } from '../../../src/messages/following';
import { verifyLedger } from '../../../src/ledger/verify';
import { Alarms } from '../../../src/platform/alarms';
import { correctReorged } from '../../../src/transfers/confirm/reconcile-reorg';
import { randomAddress } from '../../factories';
import { until } from '../transfers/served';
import { createFollowFixture, type FollowFixture } from './fixture';

let fixture: FollowFixture;
beforeEach(async () => {
  fixture = await createFollowFixture({ stuckAfterMs: 0 });
}, 60_000);
afterEach(() => fixture.close());

const ether = parseEther('1');

test('a slice ends within seconds while endpoints hang on the range that is read ahead', async () => {
  const { mine, follow, client } = fixture;
  await mine(30);
  let scans = 0;
  const scan: typeof client.scan = (...range) => ((scans += 1) > 1 ? new Promise(() => undefined) : client.scan(...range));
  const hanging = new Proxy(client, { get: (target, name) => (name === 'scan' ? scan : Reflect.get(target, name, target)) });
  const { nextBlock } = await follow({ client: hanging, sliceMs: 1 });
  expect([scans, nextBlock]).toEqual([2, 20]);
}, 30_000);

describe('deposits', () => {
  it('that came before the first start and while everything was down are credited once, at depth', async () => {
    const { send, mint, mine, follow, balance, inbound, alice } = fixture;
    await send(alice, ether);
    await mine();
    await follow();
    expect((await inbound()).map(({ status }) => status)).toEqual(['DETECTED']);
    expect(await balance(alice, 'ETH')).toEqual({ available: 0n, locked: 0n });

    await mint(alice, 500n);
    await mine(30);
    await follow();
    await follow();
    expect((await inbound()).map(({ status, token_symbol: symbol }) => `${symbol} ${status}`).sort()).toEqual([
      'ETH CONFIRMED',
      'USDC CONFIRMED',
    ]);
    expect(await balance(alice, 'ETH')).toEqual({ available: ether, locked: 0n });
    expect(await balance(alice, 'USDC')).toEqual({ available: 500n, locked: 0n });
  });

  it('native value through a contract is credited beside what the same transaction brings otherwise', async () => {
    const { anvil, outside, mine, follow, inbound, alice } = fixture;
    const forwarder = '0x00000000000000000000000000000000000f0123';
    await anvil.client.setCode({ address: forwarder, bytecode: '0x5f5f5f5f345f355af100' });
    await outside.sendTransaction({
      chain: null,
      to: forwarder,
      value: 7n,
      data: `0x${alice.addressKey.slice(2).padStart(64, '0')}`,
    });
    await mine(3);
    await follow();
    expect(await inbound()).toEqual([expect.objectContaining({ amount: '7', position: '1000001', status: 'CONFIRMED' })]);
  });

  it('are credited once by two followers that race', async () => {
    const { send, mine, follow, balance, inbound, alice } = fixture;
    for (let count = 0; count < 5; count += 1) {
      await send(alice, ether);
      await mine(10);
    }
    await Promise.all([follow(), follow(), follow()]);
    expect(await inbound()).toHaveLength(5);
    expect((await balance(alice, 'ETH')).available).toBe(5n * ether);
  });
});

describe('transfers', () => {
  const fund = async () => {
    await fixture.send(fixture.alice, ether);
    await fixture.mint(fixture.alice, 1_000_000_000n);
    await fixture.mine(4);
    await fixture.follow();
  };

  it('between two accounts: signalled when deep enough, out and in with one hash', async () => {
    await fund();
    const { ledger, onChain, sign, transfer, mine, follow, signals, balance, inbound, transaction, alice, bob } = fixture;
    const txId = await transfer({ tokenSymbol: 'USDC', amount: '5', toAddress: bob.address });
    const { hash } = await sign(txId, 1);
    expect(await onChain.broadcast({ txId, attempt: 1 })).toEqual({ outcome: 'accepted', hash, status: 'SUBMITTED' });
    expect(await onChain.observe({ txId })).toMatchObject({ state: 'pending', hash });

    await mine();
    await follow();
    await mine();
    await follow();
    expect(
      signals.map(({ txId: id, observation }) => [id, observation.state, observation.hash, observation.confirmations]),
    ).toEqual([[txId, 'confirmed', hash, 2]]);
    expect(await ledger.settleTransfer({ txId })).toMatchObject({ status: 'CONFIRMED' });
    expect((await balance(alice, 'USDC')).available).toBe(995_000_000n);
    expect((await balance(bob, 'USDC')).available).toBe(5_000_000n);
    expect(await inbound()).toContainEqual(expect.objectContaining({ tx_hash: hash, status: 'CONFIRMED', amount: '5000000' }));

    expect((await transaction(txId)).finalized_at).toBeNull();
    await mine(fixture.chain.finalityDepth);
    await follow();
    expect((await transaction(txId)).finalized_at).not.toBeNull();
    expect(signals).toHaveLength(1);
  });

  it('reverted: called confirmed only at finality, when nothing else can take its place', async () => {
    await fund();
    const { anvil, chain, ledger, onChain, sign, transfer, mine, follow, signals, transaction } = fixture;
    const txId = await transfer({ amount: '0.1' });
    const { hash } = await sign(txId, 1);
    const { to_address: to } = await transaction(txId);
    await anvil.client.setCode({ address: to as Hex, bytecode: '0x60006000fd' });
    await onChain.broadcast({ txId, attempt: 1 });
    await mine(chain.finalityDepth - 1);
    await follow();
    expect(signals).toEqual([]);
    expect(await onChain.observe({ txId })).toMatchObject({ state: 'included', hash });
    expect(await ledger.settleTransfer({ txId })).toMatchObject({ status: 'WAITING' });
    expect(await transaction(txId)).toMatchObject({ status: 'SUBMITTED' });
    await mine();
    await follow();
    expect(signals).toMatchObject([{ observation: { state: 'confirmed', hash, confirmations: chain.finalityDepth } }]);
    expect(await onChain.observe({ txId })).toMatchObject({ state: 'confirmed', hash });
    expect(await ledger.settleTransfer({ txId })).toMatchObject({ status: 'FAILED', code: 'reverted_on_chain' });
  });

  it('stuck: replaced at a higher fee, and only one of the two is executed', async () => {
    await fund();
    const { onChain, sign, transfer, mine, follow, attempts, signals, bob } = fixture;
    const txId = await transfer({ tokenSymbol: 'USDC', amount: '5', toAddress: bob.address });
    const first = await sign(txId, 1);
    await onChain.broadcast({ txId, attempt: 1 });
    const second = await sign(txId, 2);
    expect(second.hash).not.toBe(first.hash);
    expect(await onChain.broadcast({ txId, attempt: 2 })).toMatchObject({ outcome: 'accepted' });
    await mine();
    await follow();
    // of several attempts the workflow is told at once which one it is
    expect(signals.at(-1)?.observation).toMatchObject({ state: 'included', hash: second.hash });
    await mine();
    await follow();
    const [one, two] = await attempts(txId);
    expect(one?.block_number).toBeNull();
    expect(two).toMatchObject({ success: true, debited: '5000000', received: '5000000' });
    expect(signals.at(-1)?.observation).toMatchObject({ state: 'confirmed', hash: second.hash });
  });

  it('that cannot be sent again are observed all the same: what becomes of them depends on that', async () => {
    await fund();
    const { anvil, onChain, sign, transfer, client, bob } = fixture;
    const txId = await transfer({ amount: '0.1', toAddress: bob.address });
    const { hash } = await sign(txId, 1);
    await onChain.broadcast({ txId, attempt: 1 });
    await anvil.client.dropTransaction({ hash: hash as Hex });
    const send = jest.spyOn(client, 'broadcast');
    send.mockRejectedValueOnce(unavailable());
    expect(await onChain.observe({ txId })).toMatchObject({ state: 'absent' });
    expect(send).toHaveBeenCalledTimes(1);
    send.mockRejectedValueOnce(new Error('the database is away'));
    await expect(onChain.observe({ txId })).rejects.toThrow('the database is away');
    expect(await onChain.observe({ txId })).toMatchObject({ state: 'absent' });
    expect(await onChain.observe({ txId })).toMatchObject({ state: 'pending', hash });
    send.mockRestore();
  });

  it('that no node knows any more are sent again by observe', async () => {
    await fund();
    const { anvil, onChain, sign, transfer, mine, bob } = fixture;
    const txId = await transfer({ amount: '0.1', toAddress: bob.address });
    const { hash } = await sign(txId, 1);
    await onChain.broadcast({ txId, attempt: 1 });
    await anvil.client.dropTransaction({ hash: hash as Hex });
    expect(await onChain.observe({ txId })).toMatchObject({ state: 'absent' });
    await mine(2);
    expect(await onChain.observe({ txId })).toMatchObject({ state: 'confirmed', hash, confirmations: 2 });
  });

  it('are signalled until they leave, not at every poll, and again after Temporal was away', async () => {
    await fund();
    const { onChain, sign, transfer, mine, follow, signals, options, bob } = fixture;
    const txId = await transfer({ amount: '0.1', toAddress: bob.address });
    await sign(txId, 1);
    await onChain.broadcast({ txId, attempt: 1 });
    await mine(2);
    let failures = 0;
    await follow({
      resignalMs: 0,
      signalTransfer: async (id, observation) => {
        failures += 1;
        if (failures === 1) throw new Error('Temporal is away');
        return options.signalTransfer(id, observation);
      },
    });
    expect(failures).toBeGreaterThan(1);
    expect(signals.length).toBeGreaterThan(0);
    const before = signals.length;
    const notifier = new ObservationNotifier(options.signalTransfer, options.logger);
    await follow({ notifier });
    expect(signals.length).toBe(before + 1);
    // the next run of the activity
    await follow({ notifier });
    expect(signals.length).toBe(before + 1);
  });
});

describe('reorganisations', () => {
  it('take deposits back, and credit them again where they are mined again', async () => {
    const { anvil, send, mine, follow, balance, inbound, alice } = fixture;
    await mine(5);
    await follow();
    const snapshot = await anvil.client.snapshot();
    await send(alice, ether);
    await mine(3);
    await follow();
    expect((await balance(alice, 'ETH')).available).toBe(ether);

    await anvil.client.revert({ id: snapshot });
    await anvil.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 1_234_567_890n });
    await mine(5);
    await follow();
    expect((await balance(alice, 'ETH')).available).toBe(0n);
    expect((await inbound()).map(({ status }) => status)).toEqual(['ORPHANED']);

    await send(alice, ether);
    await mine(2);
    await follow();
    expect((await balance(alice, 'ETH')).available).toBe(ether);
    expect((await inbound()).map(({ status }) => status)).toEqual(['ORPHANED', 'CONFIRMED']);
  });

  it('clear the inclusion of a waiting transfer and tell it; one that had ended is handed on', async () => {
    const { anvil, ledger, onChain, sign, transfer, send, mine, follow, attempts, signals, reorged, transaction, alice, bob } =
      fixture;
    await send(alice, ether);
    await mine(5);
    await follow();
    const snapshot = await anvil.client.snapshot();
    const ended = await transfer({ amount: '0.1', toAddress: bob.address });
    await sign(ended, 1);
    await onChain.broadcast({ txId: ended, attempt: 1 });
    await mine(2);
    await follow();
    expect(await ledger.settleTransfer({ txId: ended })).toMatchObject({ status: 'CONFIRMED' });
    const waiting = await transfer({ amount: '0.2', toAddress: bob.address });
    const { hash } = await sign(waiting, 1);
    await onChain.broadcast({ txId: waiting, attempt: 1 });
    await mine();
    await follow();
    expect((await attempts(waiting))[0]).toMatchObject({ success: true });

    await anvil.client.revert({ id: snapshot });
    await anvil.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 1_234_567_890n });
    await mine(4);
    await follow();
    expect((await attempts(waiting))[0]).toMatchObject({ block_number: null, success: null, fee: null });
    expect(signals.filter(({ txId }) => txId === waiting).at(-1)?.observation).toEqual({
      state: 'absent',
      hash,
      blockNumber: null,
      confirmations: 0,
    });
    expect(reorged).toEqual([ended]);
    await mine(fixture.chain.finalityDepth + 2);
    await follow();
    expect((await transaction(ended)).finalized_at).toBeNull();
  });

  it('have a reverted transfer that had not ended sent again: its nonce is used, and what it does then counts', async () => {
    const { anvil, ledger, onChain, mine, follow, attempts, alice } = fixture;
    const { txId, snapshot } = await sentToRevert();
    await mine(fixture.chain.finalityDepth - 1);
    await follow();
    expect((await attempts(txId))[0]).toMatchObject({ success: false });
    expect(await ledger.settleTransfer({ txId })).toMatchObject({ status: 'WAITING' });

    await anvil.client.revert({ id: snapshot });
    await anvil.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 1_234_567_890n });
    await mine();
    await follow();
    expect(await onChain.observe({ txId })).toMatchObject({ state: 'absent' });
    await mine(3);
    await follow();
    expect(await anvil.client.getTransactionCount({ address: alice.address as Hex })).toBe(1);
    expect(await ledger.settleTransfer({ txId })).toMatchObject({ status: 'CONFIRMED' });
  });

  it('below finality: what had failed there is watched again, its refund may not be spent, and what it does then is an alarm', async () => {
    const { anvil, ledger, client, transfer, mine, attempts, options, alice, transaction, database } = fixture;
    const { txId, to, snapshot } = await sentToRevert();
    await mine(fixture.chain.finalityDepth + 2);
    await fixture.follow();
    expect(await ledger.settleTransfer({ txId })).toMatchObject({ status: 'FAILED', code: 'reverted_on_chain' });
    await mine();
    await fixture.follow();
    expect((await transaction(txId)).finalized_at).not.toBeNull();

    await anvil.client.revert({ id: snapshot });
    await anvil.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 1_234_567_890n });
    await mine(2);
    const alerts: { alert?: string }[] = [];
    const logger = Object.create(options.logger, {
      error: { value: (facts: { alert?: string }) => void alerts.push(facts) },
      child: { value: () => logger },
    }) as typeof options.logger;
    const onConfirmedReorged = (it: string) =>
      correctReorged({ ...options, logger, alarms: new Alarms(logger), client }, { txId: it });
    const follow = () => fixture.follow({ logger, onConfirmedReorged });
    await follow();
    expect(alerts).toContainEqual({ alert: 'refund_not_final', chain: fixture.chain.name, tx_id: txId });
    expect(alerts).toContainEqual(expect.objectContaining({ alert: 'ended_transfer_reorganised' }));
    expect((await transaction(txId)).finalized_at).toBeNull();
    const frozen = () =>
      database.query(
        `select frozen_reason is not null as is_frozen from ledger_accounts where account_id = $1 and symbol = 'ETH'`,
        [alice.accountId],
      );
    expect(await frozen()).toEqual([{ is_frozen: true }]);
    await expect(transfer({ amount: '0.1', toAddress: to })).rejects.toMatchObject({ code: 'business_error' });
    // it is not sent again: somebody else does, and it succeeds now
    const [attempt] = await attempts(txId);
    expect(await anvil.client.getTransactionCount({ address: alice.address as Hex, blockTag: 'pending' })).toBe(0);
    await client.broadcast(attempt?.signed as Hex);
    await mine(2);
    await follow();
    expect(alerts).toContainEqual({ alert: 'ended_transfer_changed', tx_id: txId });
  });

  it('of the block in which a transfer has just failed, before it is noted as final, freeze what was refunded too', async () => {
    const { anvil, ledger, mine, follow, transaction, database } = fixture;
    const { txId, snapshot } = await sentToRevert();
    await mine(fixture.chain.finalityDepth);
    await follow();
    expect(await ledger.settleTransfer({ txId })).toMatchObject({ status: 'FAILED' });
    expect((await transaction(txId)).finalized_at).toBeNull();
    await anvil.client.revert({ id: snapshot });
    await anvil.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 1_234_567_890n });
    await mine();
    await follow();
    expect(await database.query('select symbol from ledger_accounts where frozen_reason is not null')).toEqual([
      { symbol: 'ETH' },
    ]);
  });

  it('have an ended transfer sent again; mined to the same effect it stands, at the fee of its new block', async () => {
    const { anvil, database, client, options, ledger, onChain, sign, transfer, send, mine, follow, reorged, transaction } =
      fixture;
    await send(fixture.alice, ether);
    await mine(5);
    await follow();
    const snapshot = await anvil.client.snapshot();
    const txId = await transfer({ amount: '0.1', toAddress: fixture.bob.address });
    await sign(txId, 1);
    await onChain.broadcast({ txId, attempt: 1 });
    await mine(2);
    await follow();
    expect(await ledger.settleTransfer({ txId })).toMatchObject({ status: 'CONFIRMED' });
    const before = await transaction(txId);

    await anvil.client.revert({ id: snapshot });
    await anvil.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 1_234_567_890n });
    await mine(4);
    const onConfirmedReorged = (it: string) => correctReorged({ ...options, client }, { txId: it });
    await follow({ onConfirmedReorged });
    expect(reorged).toEqual([txId]);
    await mine(2);
    await follow({ onConfirmedReorged });
    await onConfirmedReorged(txId);
    expect(reorged).toEqual([txId]);
    const after = await transaction(txId);
    expect(after).toMatchObject({ status: 'CONFIRMED', tx_hash: before.tx_hash, fee: before.fee });
    expect(after.block_hash).not.toBe(before.block_hash);

    await mine(fixture.chain.finalityDepth + 2);
    await follow({ onConfirmedReorged });
    expect((await transaction(txId)).finalized_at).not.toBeNull();
    const { available, locked } = await fixture.balance(fixture.alice, 'ETH');
    expect([available, locked]).toEqual([await anvil.client.getBalance({ address: fixture.alice.address as Hex }), 0n]);
    expect(await verifyLedger(database.manager)).toEqual([]);
  });

  it('have ends that they take back read at once, also by a follower that has read all of them before', async () => {
    const { anvil, ledger, onChain, sign, transfer, send, mine, follow, reorged, alice, bob } = fixture;
    await send(alice, ether);
    await mine(5);
    await follow();
    const snapshot = await anvil.client.snapshot();
    const txId = await transfer({ amount: '0.1', toAddress: bob.address });
    await sign(txId, 1);
    await onChain.broadcast({ txId, attempt: 1 });
    await mine(2);
    await follow();
    expect(await ledger.settleTransfer({ txId })).toMatchObject({ status: 'CONFIRMED' });
    const stop = new AbortController();
    let polls = 0;
    const following = follow({ signal: stop.signal, heartbeat: () => void (polls += 1), sliceMs: 600_000 });
    try {
      // the first one reads all ends, and the next one not before a minute has passed
      await until('it has polled twice', () => Promise.resolve(polls > 1));
      expect(reorged).toEqual([]);
      await anvil.client.revert({ id: snapshot });
      await anvil.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 1_234_567_890n });
      await mine(4);
      const began = performance.now();
      await until('it is handed on', () => Promise.resolve(reorged.length > 0));
      expect(reorged).toEqual([txId]);
      expect(performance.now() - began).toBeLessThan(40_000);
    } finally {
      stop.abort();
      await following;
    }
  });

  it('by anvil_reorg at an unchanged height are noticed without a new block', async () => {
    const { anvil, send, mine, follow, balance, alice } = fixture;
    await mine(3);
    await send(alice, ether);
    await mine(3);
    await follow();
    expect((await balance(alice, 'ETH')).available).toBe(ether);
    await anvil.client.request({ method: 'anvil_reorg', params: [3, []] } as never);
    await follow();
    expect((await balance(alice, 'ETH')).available).toBe(0n);
  });
});

describe('trouble', () => {
  it('a chain that is away ends nothing and is logged once', async () => {
    const { chain, options, database, follow, mine, client } = fixture;
    await mine();
    await follow();
    let down = true;
    const flaky = Object.create(client, {
      head: { value: () => (down ? Promise.reject(unavailable()) : client.head()) },
    }) as typeof client;
    const warnings: unknown[] = [];
    const logger = Object.assign(Object.create(options.logger) as typeof options.logger, {
      child: () => logger,
      warn: (details: unknown) => void warnings.push(details),
    });
    const stop = new AbortController();
    await mine(3);
    setTimeout(() => (down = false), 1_200);
    const { nextBlock } = await followChain({
      ...options,
      notifier: new ObservationNotifier(options.signalTransfer, logger),
      funding: new FundingMemory(),
      logger,
      chain,
      client: flaky,
      pollMs: 5,
      signal: stop.signal,
      sliceMs: 6_000,
      heartbeat: () => void (down || stop.abort()),
    });
    expect(nextBlock).toBe((await client.head()).number + 1);
    expect(warnings).toHaveLength(1);
    expect(await database.query('select next_block from chain_cursors')).toEqual([{ next_block: String(nextBlock) }]);
  }, 20_000);

  it('each round tells how far it is, the head, and which endpoint is asked', async () => {
    const { client, mine, follow } = fixture;
    await mine(3);
    const { number: head } = await client.head();
    const stop = new AbortController();
    const told: object[] = [];
    const heartbeat = (details: FollowerHeartbeat) => {
      told.push(details);
      if (details.nextBlock > head) stop.abort();
    };
    await follow({ heartbeat, signal: stop.signal });
    const { endpoint } = client;
    expect(endpoint).toMatch(/^127\.0\.0\.1:\d+$/);
    expect(told.at(-1)).toEqual({ nextBlock: head + 1, head, endpoint });
  });

  it('a signal that hangs keeps no block from being scanned, however many ranges there are, and no deposit from being credited', async () => {
    const { chain, client, send, mine, inbound, alice } = fixture;
    await sentAndIncluded();
    const { signalTransfer, said, answer } = hangingSignals();
    const stop = new AbortController();
    // until it is stopped, however long the rest takes: a slice of its own would end behind the signal
    const following = fixture.follow({ signalTransfer, signal: stop.signal, heartbeat: () => undefined, sliceMs: 600_000 });
    try {
      await until('the signal hangs', () => Promise.resolve(said.length === 1));
      for (const amount of [7n, 8n, 9n]) {
        await send(alice, amount);
        await mine(60);
      }
      await mine(chain.confirmations);
      await until('the deposits are credited', async () => {
        const credited = (await inbound()).filter(({ status }) => status === 'CONFIRMED').map(({ amount }) => amount);
        return ['7', '8', '9'].every((amount) => credited.includes(amount));
      });
      await until('the head is scanned', scannedTo((await client.head()).number));
      expect(said).toHaveLength(1);
    } finally {
      stop.abort();
      answer();
      await following;
    }
  });

  it('a signal that hangs while its block is reorganised away keeps no block from being scanned: that it is gone is told after it', async () => {
    const { anvil, client, mine } = fixture;
    const { txId, snapshot } = await sentAndIncluded();
    const { signalTransfer, said, answer } = hangingSignals();
    const stop = new AbortController();
    const following = fixture.follow({ signalTransfer, signal: stop.signal, heartbeat: () => undefined, sliceMs: 600_000 });
    try {
      await until('the signal hangs', () => Promise.resolve(said.length === 1));
      await anvil.client.revert({ id: snapshot });
      await anvil.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 1_234_567_890n });
      await mine(60);
      await until('the new head is scanned', scannedTo((await client.head()).number));
      expect(said).toEqual([`${txId} confirmed`]);
      answer();
      await until('it is told', () => Promise.resolve(said.length > 1));
      expect(said).toEqual([`${txId} confirmed`, `${txId} absent`]);
    } finally {
      stop.abort();
      answer();
      await following;
    }
  });

  it('an endpoint that answers for few blocks at a time is asked for fewer, and then for more again', async () => {
    const { client, database, follow, mine, send, balance, alice } = fixture;
    await follow();
    await send(alice, ether);
    await mine(60);
    const asked: number[] = [];
    const limits = [5, 5, 5, 1, 1];
    const limited = Object.create(client, {
      scan: {
        value: (...[from, to, isOurs]: Parameters<typeof client.scan>) => {
          const length = to - from + 1;
          asked.push(length);
          return length > (limits.shift() ?? 20) ? Promise.reject(unavailable()) : client.scan(from, to, isOurs);
        },
      },
    }) as typeof client;
    await follow({ client: limited });
    expect(asked.slice(0, 9)).toEqual([20, 10, 5, 6, 3, 2, 3, 4, 5]);
    expect(await database.query('select next_block from chain_cursors')).toEqual([
      { next_block: String((await client.head()).number + 1) },
    ]);
    expect((await balance(alice, 'ETH')).available).toBe(ether);
  }, 20_000);

  it('a database of another chain is refused', async () => {
    await fixture.follow();
    const other = { ...fixture.chain, caip2: 'eip155:5' };
    await expect(fixture.follow({ chain: other })).rejects.toThrow(/one database is one environment/);
  });

  it('stores head and fee levels for the API', async () => {
    await fixture.mine(2);
    await fixture.follow();
    const [row] = await fixture.database.query<{ fee_levels: FeeLevels }[]>('select * from chain_cursors');
    const head = (await fixture.client.head()).number;
    expect(row).toMatchObject({ chain: 'ethereum', caip2: 'eip155:1', head_block: String(head), next_block: String(head + 1) });
    expect(BigInt(row?.fee_levels.baseFee as string)).toBeGreaterThan(0n);
  });
});

/** A transfer that is deep enough in blocks nobody has followed yet; the chain's state before it is kept. */
async function sentAndIncluded(): Promise<{ txId: string; snapshot: Hex }> {
  const { anvil, chain, onChain, sign, transfer, send, mine, follow, alice, bob } = fixture;
  await send(alice, ether);
  await mine(4);
  await follow();
  const snapshot = await anvil.client.snapshot();
  const txId = await transfer({ amount: '0.1', toAddress: bob.address });
  await sign(txId, 1);
  await onChain.broadcast({ txId, attempt: 1 });
  await mine(chain.confirmations);
  return { txId, snapshot };
}

/** Signals of which the first ones are answered when `answer` is called, and later ones at once. */
function hangingSignals() {
  let answer: () => void = () => undefined;
  const answered = new Promise<void>((resolve) => (answer = resolve));
  const said: string[] = [];
  const signalTransfer: SignalTransfer = async (txId, { state }) => {
    said.push(`${txId} ${state}`);
    await answered;
    return 'sent';
  };
  return { signalTransfer, said, answer };
}

const scannedTo = (block: number) => async () => {
  const [cursor] = await fixture.database.query<{ next_block: string }[]>('select next_block from chain_cursors');
  return Number(cursor?.next_block) > block;
};

/** A transfer of 0.1 ETH that is sent and will revert; the chain's state before that is kept. */
async function sentToRevert(): Promise<{ txId: string; to: string; snapshot: Hex }> {
  const { anvil, onChain, sign, transfer, send, mine, follow, alice } = fixture;
  await send(alice, ether);
  await mine(5);
  await follow();
  const to = randomAddress();
  const txId = await transfer({ amount: '0.1', toAddress: to });
  await sign(txId, 1);
  const snapshot = await anvil.client.snapshot();
  await anvil.client.setCode({ address: to as Hex, bytecode: '0x60006000fd' });
  await onChain.broadcast({ txId, attempt: 1 });
  return { txId, to, snapshot };
}

function unavailable(): Error {
  const { GatewayError } = jest.requireActual<typeof import('../../../src/platform/errors')>('../../../src/platform/errors');
  return new GatewayError('chain_unavailable', 'ethereum: no RPC endpoint answered');
}
