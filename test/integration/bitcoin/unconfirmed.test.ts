import { BitcoinChainClient } from '../../../src/chains/bitcoin/client';
import { poolLimits } from '../../../src/chains/bitcoin/package';
import { NodeRefusal } from '../../../src/chains/bitcoin/rpc';
import { findAncestors } from '../../../src/chains/unconfirmed';
import { verifyLedger } from '../../../src/ledger/verify';
import { recordAbandonRequest } from '../../../src/transfers/operate/operator-requests';
import { describeWithBtcd } from '../../stack/btcd';
import { type BitcoinFixture, createBitcoinFixture } from './fixture';
import { startBitcoinProxy } from './proxy';

const coin = 100_000_000n;
let fixture: BitcoinFixture;

describeWithBtcd('change that is in no block', () => {
  const open = async (...[changes, route]: Parameters<typeof createBitcoinFixture>) => {
    fixture = await createBitcoinFixture({ stuckAfterMs: 0, ...changes }, route);
    await fixture.fund(fixture.alice, [coin]);
  };
  beforeEach(() => open(), 60_000);
  afterEach(() => fixture.close());

  /** A transfer whose first attempt a node has. */
  const sent = async (amount = '0.01') => {
    const txId = await fixture.pay(amount);
    await fixture.sign(txId, 1);
    expect(await fixture.send(txId, 1)).toMatchObject({ outcome: 'accepted' });
    return txId;
  };
  const inputs = async (txId: string) => (await fixture.held(txId)).map(({ resource }) => resource);
  const attemptsOf = async (txId: string) =>
    (await fixture.attempts(txId)).map(({ message_key: id, fee_bound: fee, size }) => ({
      id: String(id),
      fee: Number(fee),
      size: Number(size),
    }));
  const replace = async (txId: string, attempt: number) => {
    const next = { txId, attempt, kind: 'replacement' as const };
    return fixture.ledger.beginAttempt({ ...next, prepared: await fixture.onChain.prepareAttempt(next) });
  };
  const settleAll = async (ids: string[]) => {
    await fixture.mine(fixture.chain.confirmations);
    await fixture.follow();
    for (const txId of ids) expect(await fixture.ledger.settleTransfer({ txId })).toMatchObject({ status: 'CONFIRMED' });
    const { alice, balance, unspent, database } = fixture;
    expect(await balance(alice, 'BTC')).toEqual({ available: await unspent(alice), locked: 0n });
    expect(await verifyLedger(database.manager)).toEqual([]);
  };

  test('is spent by the next transfers of an account with a single output, and all are confirmed in one block', async () => {
    const ids = [await sent(), await sent(), await sent()];
    const [first, second] = await Promise.all(ids.map(attemptsOf));
    expect(await Promise.all(ids.slice(1).map(inputs))).toEqual([[`${first?.[0]?.id}:1`], [`${second?.[0]?.id}:1`]]);
    expect(await fixture.node.pendingTransactions()).toBe(3);
    await settleAll(ids);
  });

  test('is not spent before a node has it', async () => {
    const first = await fixture.pay('0.01');
    await fixture.sign(first, 1);
    expect(await fixture.begin(await fixture.pay('0.01'))).toMatchObject({ outcome: 'wait' });
    await fixture.send(first, 1);
    expect(await fixture.begin(await fixture.pay('0.01'))).toMatchObject({ outcome: 'begun' });
  });

  test('of an attempt that is replaced is not spent any more, that of its replacement is', async () => {
    const first = await sent();
    const second = await fixture.pay('0.01');
    await fixture.sign(first, 2);
    expect(await fixture.begin(second)).toMatchObject({ outcome: 'wait' });
    await fixture.send(first, 2);
    await fixture.sign(second, 1);
    const [, replacement] = await attemptsOf(first);
    expect(await inputs(second)).toEqual([`${replacement?.id}:1`]);
    expect(await fixture.send(second, 1)).toMatchObject({ outcome: 'accepted' });
    await settleAll([first, second]);
  });

  test('keeps its transaction from being replaced or cancelled once it is spent', async () => {
    const first = await sent();
    const second = await sent();
    expect(await replace(first, 2)).toMatchObject({ outcome: 'refused', isFollowed: true });
    await recordAbandonRequest(fixture.database.manager, { txId: first, attempt: 1, operator: 'somebody' });
    const next = { txId: first, attempt: 2, kind: 'cancellation' as const };
    const prepared = await fixture.onChain.prepareAttempt(next);
    expect(await fixture.ledger.beginAttempt({ ...next, prepared })).toMatchObject({
      outcome: 'refused',
      code: 'not_cancellable',
    });
    // the one that spends it is replaced
    await fixture.sign(second, 2);
    expect(await fixture.send(second, 2)).toMatchObject({ outcome: 'accepted' });
    await settleAll([first, second]);
  });

  test('is spent at a fee with which both pay the rate together, and its replacement pays no less', async () => {
    const first = await fixture.pay('0.01');
    const begun = await fixture.begin(first, { rate: '1', current: '1' });
    if (begun.outcome !== 'begun') throw new Error(begun.outcome);
    await fixture.ledger.recordSigned({
      txId: first,
      attempt: 1,
      signatures: fixture.signatures(begun.unsigned, fixture.alice.address),
    });
    await fixture.send(first, 1);
    const second = await sent();
    const rate = Number(await fixture.rate());
    const [[parent], [child]] = [await attemptsOf(first), await attemptsOf(second)];
    if (!parent || !child) throw new Error('no attempts');
    expect(parent.fee).toBe(parent.size);
    expect(parent.fee + child.fee).toBe(rate * (parent.size + child.size));
    await fixture.sign(second, 2);
    const [, dearer] = await attemptsOf(second);
    expect(dearer?.fee).toBeGreaterThan(child.fee);
    expect(dearer?.fee).toBeLessThan(2 * child.fee);
    expect(await fixture.send(second, 2)).toMatchObject({ outcome: 'accepted' });
    await settleAll([first, second]);
  });

  test('is not spent where the package would cost more than the cap, or the account can lock no more', async () => {
    await fixture.close();
    let close = () => {};
    await open({ maxNetworkFee: 400n }, async (url) => {
      const proxy = await startBitcoinProxy(url, { estimatesmartfee: () => ({ feerate: 0.00002 }) });
      close = () => proxy.close();
      return proxy.url;
    });
    try {
      await sent();
      // 141 virtual bytes at 2 satoshis each cost 282
      expect(await fixture.begin(await fixture.pay('0.01'))).toMatchObject({
        outcome: 'wait',
        reason: expect.stringMatching(/more than is paid/),
      });
    } finally {
      close();
    }
  });

  test('of others is never spent', async () => {
    const { node, alice, follow } = fixture;
    await sent('0.9');
    await node.send(alice.address, coin);
    await follow();
    expect((await fixture.outputs(alice)).map(({ amount }) => amount)).toEqual([String(coin)]);
    await expect(fixture.pay('0.5')).rejects.toMatchObject({ code: 'insufficient_balance' });
  });

  test('is spent in a chain of limited length: then a block is waited for', async () => {
    const ids: string[] = [];
    for (let count = 0; count < poolLimits.transactions; count += 1) ids.push(await sent());
    const last = await fixture.pay('0.01');
    expect(await fixture.begin(last)).toMatchObject({ outcome: 'wait' });
    await fixture.mine();
    await fixture.follow();
    await fixture.sign(last, 1);
    expect(await fixture.send(last, 1)).toMatchObject({ outcome: 'accepted' });
    await settleAll([...ids, last]);
  });

  test('its transaction is sent before what spends it, to a node that lacks it; what is refused then waits', async () => {
    const { chain, btcd, database } = fixture;
    const first = await sent();
    const second = await sent();
    const ancestors = await findAncestors(database.manager, second, 1);
    const bytes = (await fixture.attempts(second))[0]?.signed as `0x${string}`;
    expect(ancestors).toEqual([(await fixture.attempts(first))[0]?.signed]);
    let isMissing = true;
    const proxy = await startBitcoinProxy(btcd.url, {
      getrawtransaction: () => {
        throw new NodeRefusal(-5, 'no information');
      },
      sendrawtransaction: () => {
        if (isMissing) throw new NodeRefusal(-25, 'bad-txns-inputs-missingorspent');
      },
    });
    try {
      const asking = new BitcoinChainClient(chain, [proxy.url]);
      expect(await asking.broadcast(bytes, ancestors)).toEqual({ outcome: 'waiting', reason: 'an input is spent or unknown' });
      expect(await asking.broadcast(bytes)).toMatchObject({ outcome: 'waiting', passing: 'view' });
      isMissing = false;
      proxy.seen.length = 0;
      await asking.broadcast(bytes, ancestors).catch(() => undefined);
      expect(proxy.seen.filter(({ method }) => method === 'sendrawtransaction')).toHaveLength(2);
    } finally {
      proxy.close();
    }
  });
});
