import { ApplicationFailure } from '@temporalio/common';
import { NodeRefusal } from '../../../src/chains/bitcoin/rpc';
import { beginConsolidation } from '../../../src/consolidations/begin';
import { TransactionEntity } from '../../../src/transactions/entity';
import { observationSignaller, transferWorkflowsOn } from '../../../src/transfers/start/workflows';
import { retryUpdate } from '../../../src/messages/transfer';
import { transferWorkflowId } from '../../../src/messages/workflow-ids';
import { verifyLedger } from '../../../src/ledger/verify';
import { listAddress } from '../screening/factors';
import { describeWithBtcd } from '../../stack/btcd';
import { ServedChain, until } from '../transfers/served';
import { type BitcoinFixture, createBitcoinFixture } from './fixture';
import { startBitcoinProxy } from './proxy';

jest.setTimeout(120_000);

const coin = 100_000_000n;

/** What the suite of all families (transfers/families.test.ts) does not see. */
describeWithBtcd('whole transfers on Bitcoin', () => {
  const served = new ServedChain<BitcoinFixture>(async () => {
    const created = await createBitcoinFixture();
    await created.fund(created.alice, [coin, coin]);
    return created;
  });
  let fixture: BitcoinFixture;
  beforeEach(() => {
    fixture = served.fixture;
  });

  const submit = (amount = '1.2') => served.submit({ tokenSymbol: 'BTC', amount, toAddress: fixture.outside });
  const askChain = (txId: string) => served.client.workflow.getHandle(transferWorkflowId(txId)).executeUpdate(retryUpdate);
  const attemptCount = (txId: string, count: number) =>
    until(
      `${count} attempts`,
      async () => (await fixture.attempts(txId)).filter(({ broadcast_at: at }) => at !== null).length >= count,
    );
  const booksAgree = async () => {
    const available = await fixture.unspent(fixture.alice);
    expect(await fixture.balance(fixture.alice, 'BTC')).toEqual({ available, locked: 0n });
    expect(await verifyLedger(fixture.database.manager)).toEqual([]);
  };

  test('a transfer of two inputs passes what the nodes verify, and is confirmed, although its follower tells it nothing', async () => {
    await served.serve();
    const txId = await submit();
    await attemptCount(txId, 1);
    await served.ends(txId, 'CONFIRMED', { isTold: false });
    expect(await fixture.held(txId)).toHaveLength(2);
    await booksAgree();
  });

  test('small outputs become one', async () => {
    await served.serve();
    const { alice, database, registry, getFamily, fund } = fixture;
    await fund(
      alice,
      Array.from({ length: 4 }, () => 6_000n),
    );
    const request = { accountId: alice.accountId, maxInputs: 64, below: 10_000n, maxFee: null };
    const { txId } = await beginConsolidation({ database, registry, getFamily }, request, { type: 'operator', id: 'olga' });
    const stored = await database.manager.findOneByOrFail(TransactionEntity, { txId: txId as string });
    await transferWorkflowsOn(served.client).start(stored);
    await served.ends(txId as string, 'CONFIRMED');
    expect(await fixture.held(txId as string)).toHaveLength(4);
    await booksAgree();
  });

  test('whose recipient is blacklisted while it is signed: the first input goes back to the account, and it fails', async () => {
    await served.serve({
      sign: async ({ kind }) => {
        if (kind === 'cancellation') return;
        const { database, alice, outside, chain, getFamily } = fixture;
        await listAddress(database, alice, outside, { chain: chain.name, family: chain.family, getFamily });
        throw ApplicationFailure.create({ type: 'address_blacklisted', message: 'on the list', nonRetryable: true });
      },
    });
    const txId = await submit();
    await attemptCount(txId, 1);
    await served.ends(txId, 'FAILED');
    expect((await fixture.attempts(txId)).map(({ kind }) => kind)).toEqual(['first', 'cancellation']);
    expect((await fixture.held(txId)).map(({ attempts }) => attempts)).toEqual([[1, 2], [1]]);
    await booksAgree();
  });

  test('whose deposit is reorganised away for good: it ends by proof, without an operator', async () => {
    const { alice, node, outside, outputs, follow, mine, chain } = fixture;
    let unfunded = 0;
    await served.serve({
      chain: {
        observe: async (input) => {
          const seen = await fixture.onChain.observe(input);
          if (seen.isUnfunded) unfunded += 1;
          return seen;
        },
      },
    });
    const txId = await submit();
    await attemptCount(txId, 1);
    const [deposit] = (await outputs(alice)).map(({ resource }) => resource.split(':')[0] ?? '');
    await node.invalidate((await node.height()) - chain.confirmations + 1);
    await node.replace(deposit ?? '', outside, coin);
    await mine(2);
    await follow();
    await until('asked', async () => {
      await askChain(txId).catch(() => undefined);
      return unfunded > 0;
    });
    await mine(chain.finalityDepth);
    await follow();
    await until('asked again', async () => {
      await askChain(txId).catch(() => undefined);
      return (await served.status(txId)) === 'FAILED';
    });
    expect(await fixture.transaction(txId)).toMatchObject({ failure_code: 'funding_lost' });
    await follow();
    await booksAgree();
    await served.record(transferWorkflowId(txId), 'transfer-failed-funding-lost');
  });

  describe('that every node refuses for now', () => {
    /** What the node says to bytes before they reach it; null: nothing. */
    let refusal: NodeRefusal | null = null;
    let closeProxy = () => {};
    let refused = 0;
    /** In place of the fixture of each test, behind an endpoint that refuses. */
    const open = async (stuckAfterMs: number) => {
      await fixture.close();
      refused = 0;
      fixture = await createBitcoinFixture({ stuckAfterMs }, async (url) => {
        const proxy = await startBitcoinProxy(url, {
          sendrawtransaction: () => {
            if (!refusal) return undefined;
            refused += 1;
            throw refusal;
          },
        });
        closeProxy = proxy.close;
        return proxy.url;
      });
      served.fixture = fixture;
      await fixture.fund(fixture.alice, [coin, coin]);
      await served.serve();
    };
    afterEach(() => closeProxy());
    const kinds = async (txId: string) => (await fixture.attempts(txId)).map(({ kind }) => kind);

    test('the same bytes are sent again until it takes them', async () => {
      refusal = new NodeRefusal(-25, 'bad-txns-inputs-missingorspent');
      await open(600_000);
      const txId = await submit();
      await until('refused three times', () => Promise.resolve(refused > 2));
      expect(await served.status(txId)).toBe('SIGNING');
      refusal = null;
      await served.ends(txId, 'CONFIRMED');
      expect(await kinds(txId)).toEqual(['first']);
      await booksAgree();
    });

    test('and goes on to: operators are told, and may abandon it', async () => {
      refusal = new NodeRefusal(-26, 'txn-mempool-conflict');
      await open(2_000);
      const txId = await submit();
      await until('parked', async () => (await served.status(txId)) === 'NEEDS_ATTENTION');
      expect(refused).toBeGreaterThan(1);
      expect(await fixture.transaction(txId)).toMatchObject({
        ...{ failure_code: 'broadcast_rejected', failure_message: 'another transaction in the pool of the node spends an input' },
      });
      expect(await kinds(txId)).toEqual(['first']);
      expect((await fixture.balance(fixture.alice, 'BTC')).locked).toBeGreaterThan(120_000_000n);
      await until('abandoned', () =>
        served.operations.abandon(txId).then(
          () => true,
          () => false,
        ),
      );
      refusal = null;
      await served.ends(txId, 'FAILED');
      expect((await kinds(txId)).slice(0, 2)).toEqual(['first', 'cancellation']);
      await booksAgree();
    });

    test('for its fee: after its time without inclusion it is replaced at a higher one', async () => {
      refusal = new NodeRefusal(-26, 'mempool min fee not met, 141 < 200');
      await open(2_000);
      const txId = await submit();
      await until('replaced', async () => (await kinds(txId)).length > 1);
      refusal = null;
      await served.ends(txId, 'CONFIRMED');
      expect((await kinds(txId)).slice(0, 2)).toEqual(['first', 'replacement']);
      await booksAgree();
    });
  });

  test('that is parked, and whose deposit is reorganised away for good: the follower tells it so, and it ends without an operator', async () => {
    const { alice, node, outside, outputs, mine, chain } = fixture;
    await served.serve({
      chain: { broadcast: () => Promise.resolve({ outcome: 'rejected', reason: 'not this one' }) },
    });
    const txId = await submit();
    const [deposit] = (await outputs(alice)).map(({ resource }) => resource.split(':')[0] ?? '');
    await until('parked', async () => (await served.status(txId)) === 'NEEDS_ATTENTION');
    await node.invalidate((await node.height()) - chain.confirmations + 1);
    await node.replace(deposit ?? '', outside, coin);
    const follow = () => fixture.follow({ signalTransfer: observationSignaller(served.client) });
    await mine(chain.finalityDepth - 1);
    await follow();
    expect(await served.status(txId)).toBe('NEEDS_ATTENTION');
    await mine(1);
    await follow();
    await until('ended', async () => (await served.status(txId)) === 'FAILED');
    expect(await fixture.transaction(txId)).toMatchObject({ failure_code: 'funding_lost' });
    await fixture.follow();
    await booksAgree();
  });

  test('that is parked for its signatures, and whose deposit is reorganised away for good: it ends, and nothing more is signed', async () => {
    const { alice, node, outside, outputs, mine, chain } = fixture;
    let asked = 0;
    await served.serve({
      sign: () => {
        asked += 1;
        throw ApplicationFailure.create({ type: 'intent_mismatch', message: 'no', nonRetryable: true });
      },
    });
    const txId = await submit();
    const [deposit] = (await outputs(alice)).map(({ resource }) => resource.split(':')[0] ?? '');
    await until('parked', async () => (await served.status(txId)) === 'NEEDS_ATTENTION');
    await node.invalidate((await node.height()) - chain.confirmations + 1);
    await node.replace(deposit ?? '', outside, coin);
    await mine(chain.finalityDepth);
    const before = asked;
    await fixture.follow({ signalTransfer: observationSignaller(served.client) });
    await until('ended', async () => (await served.status(txId)) === 'FAILED');
    expect(await fixture.transaction(txId)).toMatchObject({ failure_code: 'funding_lost' });
    expect(asked).toBe(before);
    await fixture.follow();
    await booksAgree();
    await served.record(transferWorkflowId(txId), 'transfer-failed-funding-lost-unsigned');
  });

  test('that no node takes yet is sent again until one does', async () => {
    let sent = 0;
    await served.serve({
      chain: {
        broadcast: (input) => {
          sent += 1;
          return sent > 1 ? fixture.onChain.broadcast(input) : Promise.resolve({ outcome: 'waiting', reason: 'not yet' });
        },
      },
    });
    const txId = await submit();
    await until('not taken', () => Promise.resolve(sent === 1));
    await until('asked', async () => {
      await askChain(txId).catch(() => undefined);
      return (await served.status(txId)) === 'SUBMITTED';
    });
    expect(sent).toBe(1);
    await served.ends(txId, 'CONFIRMED');
    await booksAgree();
    await served.record(transferWorkflowId(txId), 'transfer-confirmed-taken-later');
  });

  test('of an account with one output do not wait for each other, and one pays for the one before', async () => {
    const { alice, database, outputs } = fixture;
    const [big, small] = await outputs(alice);
    await database.query('update chain_outputs set spendable_from = 1000000000 where resource = $1', [small?.resource]);
    await served.serve();
    const ids: string[] = [];
    for (let count = 0; count < 4; count += 1) {
      ids.push(await submit('0.1'));
      await attemptCount(ids.at(-1) ?? '', 1);
    }
    await fixture.mine(fixture.chain.confirmations);
    await fixture.follow();
    for (const txId of ids) await served.ends(txId, 'CONFIRMED');
    expect(new Set((await Promise.all(ids.map(fixture.held))).flat().map(({ resource }) => resource)).size).toBe(4);
    expect((await fixture.held(ids[0] ?? ''))[0]?.resource).toBe(big?.resource);
    await booksAgree();
  });
});
