import { ApplicationFailure } from '@temporalio/common';
import { formatUnits, parseUnits } from 'viem';
import { EndpointList } from '../../../src/chains/endpoints';
import { NoAnswer } from '../../../src/chains/no-answer';
import { offer, toTrouble } from '../../../src/chains/offer';
import { statusQuery } from '../../../src/messages/progress';
import { retryUpdate } from '../../../src/messages/transfer';
import { transferWorkflowId } from '../../../src/messages/workflow-ids';
import { verifyLedger } from '../../../src/ledger/verify';
import { correctReorged } from '../../../src/transfers/confirm/reconcile-reorg';
import { type FamilyScene, describeFamilies } from '../families/scene';
import { listAddress } from '../screening/factors';
import { ServedChain, until, whenLate } from './served';

jest.setTimeout(120_000);

/** What takes long or needs faults of the node, the same for every family: whole transfers on a chain of their own. */

describeFamilies('transfers', ({ symbol, decimals, amount: worth, newAddress }, create, { rules, isFinal }) => {
  const deposited = parseUnits(worth('1'), decimals);
  const amount = parseUnits(worth('1.2'), decimals);
  /** What a family does not do has no test. */
  const testWhere =
    (holds: boolean) =>
    (name: string, run: () => Promise<void>): void => {
      if (holds) test(name, run);
    };
  const whereReplaced = testWhere(rules.stuck === 'replace');
  const whereSentAgain = testWhere(rules.stuck === 'rebroadcast');
  const whereCancelled = testWhere(rules.abandoned === 'cancel');
  const whereExpiring = testWhere(rules.abandoned === 'expiry');
  const whereReorganised = testWhere(!isFinal);
  let stuckAfterMs = 60_000;
  const served = new ServedChain<FamilyScene>(async () => {
    const created = await create({ stuckAfterMs });
    await deposit(created, 2);
    return created;
  });
  let fixture: FamilyScene;
  let to: string;
  beforeEach(() => {
    fixture = served.fixture;
    to = newAddress();
  });

  /** Of Alice, each of them deep enough to be spent. */
  async function deposit({ deposit: send, alice, mine, chain, follow }: FamilyScene, count: number): Promise<void> {
    for (let made = 0; made < count; made += 1) await send(alice, deposited);
    await mine(chain.confirmations);
    await follow();
  }
  const submit = () => served.submit({ tokenSymbol: symbol, amount: formatUnits(amount, decimals), toAddress: to });
  const runOf = (txId: string) => served.client.workflow.getHandle(transferWorkflowId(txId));
  const askChain = (txId: string) => runOf(txId).executeUpdate(retryUpdate);
  /** The Temporal UI says that nothing answers, and where to read on. */
  const saysSilent = (txId: string) =>
    until('it says that no endpoint answers', async () => {
      const shown = await served.shownDetails(txId);
      return (
        shown.startsWith(`**No endpoint of ${fixture.chain.name} gives a usable answer**`) &&
        shown.includes('alerts.md#chainsilent')
      );
    });
  const kinds = async (txId: string) => (await fixture.attempts(txId)).map(({ kind }) => kind);
  const sent = (txId: string, count = 1) =>
    until(`${count} attempts are sent`, async () => {
      const attempts = await fixture.attempts(txId);
      return attempts.filter(({ broadcast_at: at }) => at !== null).length >= count;
    });
  const submitted = async (txId: string) => {
    await sent(txId);
    await until('SUBMITTED', async () => (await served.status(txId)) === 'SUBMITTED');
    // the row says it before the run does, which takes a retry only from then on
    await until('followed', async () => (await runOf(txId).query(statusQuery)).step === 'confirm');
  };
  /** Nothing is locked, the ledger is that of the chain, and the recipient has what it was sent, once. */
  const booksAgree = async (received = amount) => {
    const { alice, node, balance, database } = fixture;
    expect(await node.balanceOf(to)).toBe(received);
    expect(await balance(alice, symbol)).toEqual({ available: await node.balanceOf(alice.address), locked: 0n });
    expect(await verifyLedger(database.manager)).toEqual([]);
  };

  describe('with a node that makes no blocks', () => {
    beforeAll(() => {
      stuckAfterMs = 1_000;
    });
    afterAll(() => {
      stuckAfterMs = 60_000;
    });

    whereReplaced('stuck: replaced at a higher fee, and executed once', async () => {
      await served.serve();
      const txId = await submit();
      await sent(txId, 2);
      await served.ends(txId, 'CONFIRMED');
      expect((await kinds(txId)).slice(0, 2)).toEqual(['first', 'replacement']);
      const fees = (await fixture.attempts(txId)).map(({ fee_bound: fee }) => BigInt(String(fee)));
      for (const [index, fee] of fees.slice(1).entries()) expect(fee).toBeGreaterThan(fees[index] ?? fee);
      await booksAgree();
    });

    whereSentAgain('stuck: the same bytes are sent again, and executed once', async () => {
      await served.serve();
      const txId = await submit();
      await submitted(txId);
      const [{ tx_hash: id } = {}] = await fixture.attempts(txId);
      await fixture.drop(String(id));
      await until('sent again', async () => (await fixture.waiting()) === 1);
      await served.ends(txId, 'CONFIRMED');
      expect(await fixture.attempts(txId)).toMatchObject([{ tx_hash: id }]);
      await booksAgree();
    });

    test('one endpoint has a trouble of its own, another is silent: parked after its minutes, and goes on once one takes it', async () => {
      const answers = [() => toTrouble(-32603, 'Internal error'), () => Promise.reject(new NoAnswer('no response in time'))];
      const endpoints = answers.map((answer) => ({ host: 'node', identify: () => Promise.resolve(), answer }));
      const list = new EndpointList(fixture.chain, endpoints);
      const sending = jest
        .spyOn(fixture.client, 'broadcast')
        .mockImplementation(() => offer(list, ({ answer }) => Promise.resolve(answer())));
      await served.serve({ chain: { broadcast: async (input) => whenLate(await fixture.onChain.broadcast(input)) } });
      const txId = await submit();
      await until('parked', async () => (await served.status(txId)) === 'NEEDS_ATTENTION');
      expect(await fixture.transaction(txId)).toMatchObject({ failure_code: 'broadcast_rejected' });
      expect((await fixture.balance(fixture.alice, symbol)).locked).toBeGreaterThan(amount);
      sending.mockRestore();
      await sent(txId);
      await served.ends(txId, 'CONFIRMED');
      await booksAgree();
    });
  });

  test('dropped by the node: the same bytes are sent again', async () => {
    let isAsked = true;
    await served.serve({
      chain: {
        // so that it is not sent again before the test has looked
        observe: (input) =>
          isAsked
            ? fixture.onChain.observe(input)
            : Promise.resolve({ state: 'pending', hash: null, blockNumber: null, confirmations: 0 }),
      },
    });
    const txId = await submit();
    await submitted(txId);
    isAsked = false;
    const { tx_hash: id } = (await fixture.attempts(txId))[0] ?? {};
    await fixture.drop(String(id));
    expect(await fixture.onChain.observe({ txId })).toMatchObject({ state: 'absent' });
    isAsked = true;
    await askChain(txId);
    await served.ends(txId, 'CONFIRMED');
    expect(await fixture.attempts(txId)).toMatchObject([{ tx_hash: id }]);
    await booksAgree();
  });

  whereReorganised('reorganised before it is deep enough: included again, and confirmed', async () => {
    await served.serve();
    const txId = await submit();
    await submitted(txId);
    await fixture.mine();
    await fixture.follow();
    const [before] = await fixture.attempts(txId);
    expect(before?.block_hash).not.toBeNull();
    await fixture.reorganise?.(1);
    await fixture.follow();
    await askChain(txId);
    await served.ends(txId, 'CONFIRMED');
    const [after, ...others] = await fixture.attempts(txId);
    expect(others).toEqual([]);
    expect(after?.block_hash).not.toBe(before?.block_hash);
    await booksAgree();
  });

  whereReorganised('reorganised after CONFIRMED: stays that, in another block', async () => {
    await served.serve();
    const txId = await submit();
    await submitted(txId);
    await fixture.mine(fixture.chain.confirmations);
    await fixture.follow();
    await askChain(txId);
    await until('confirmed', async () => (await served.status(txId)) === 'CONFIRMED');
    const before = await fixture.transaction(txId);
    await fixture.reorganise?.(fixture.chain.confirmations);
    const { options, client } = fixture;
    const onConfirmedReorged = (it: string) => correctReorged({ ...options, client }, { txId: it });
    await until('final', async () => {
      await fixture.follow({ onConfirmedReorged });
      await fixture.mine();
      return (await fixture.transaction(txId)).finalized_at !== null;
    });
    const after = await fixture.transaction(txId);
    expect(after.block_hash).not.toBe(before.block_hash);
    expect(after).toMatchObject({ status: 'CONFIRMED', tx_hash: before.tx_hash });
    expect(await kinds(txId)).toEqual(['first']);
    await booksAgree();
  });

  test('the node is down while it is prepared, and while it is included: waits with its funds locked, and goes on', async () => {
    await served.serve();
    fixture.gate.close();
    const txId = await submit();
    await expect(fixture.client.head()).rejects.toMatchObject({ code: 'chain_unavailable' });
    await saysSilent(txId);
    expect([await served.status(txId), await kinds(txId)]).toEqual(['PENDING', []]);
    expect((await fixture.balance(fixture.alice, symbol)).locked).toBeGreaterThan(amount);
    fixture.gate.open();
    await submitted(txId);
    fixture.gate.close();
    await fixture.mine(fixture.chain.confirmations);
    await askChain(txId);
    await saysSilent(txId);
    expect(await served.status(txId)).toBe('SUBMITTED');
    fixture.gate.open();
    await served.ends(txId, 'CONFIRMED');
    expect(await kinds(txId)).toEqual(['first']);
    await booksAgree();
  });

  test('deposits that come while nothing follows the chain are credited once', async () => {
    const { bob, balance, deposit: send, mine, follow, inbound } = fixture;
    const before = (await inbound()).length;
    for (let count = 0; count < 3; count += 1) {
      await send(bob, deposited);
      await mine(4);
    }
    await Promise.all([follow(), follow()]);
    expect((await inbound()).slice(before)).toMatchObject(Array(3).fill({ status: 'CONFIRMED', amount: String(deposited) }));
    expect(await balance(bob, symbol)).toEqual({ available: 3n * deposited, locked: 0n });
    expect(await verifyLedger(fixture.database.manager)).toEqual([]);
  });

  /** The nodes find its recipient on the list, and so does the gateway then. */
  const listWhileSigned = () =>
    served.serve({
      sign: async ({ kind }) => {
        if (kind === 'cancellation') return;
        const { database, alice, chain, getFamily } = fixture;
        await listAddress(database, alice, to, { chain: chain.name, family: chain.family, getFamily });
        throw ApplicationFailure.create({ type: 'address_blacklisted', message: 'on the list', nonRetryable: true });
      },
    });

  whereCancelled(
    'its recipient is blacklisted while it is signed: a cancellation uses up what it would have, and it fails',
    async () => {
      await listWhileSigned();
      const txId = await submit();
      await sent(txId);
      await served.ends(txId, 'FAILED');
      expect(await kinds(txId)).toEqual(['first', 'cancellation']);
      await booksAgree(0n);
    },
  );

  whereExpiring('its recipient is blacklisted while it is signed: it fails once it has expired', async () => {
    await listWhileSigned();
    const txId = await submit();
    await until('abandoned', async () => (await fixture.transaction(txId)).cancellation_reason !== null);
    expect((await fixture.balance(fixture.alice, symbol)).locked).toBeGreaterThan(amount);
    await until('it fails', async () => {
      await fixture.mine();
      await askChain(txId).catch(() => undefined);
      return (await served.status(txId)) === 'FAILED';
    });
    expect(await kinds(txId)).toEqual(['first']);
    await booksAgree(0n);
  });
});
