import { recordAbandonRequest } from '../../../src/transfers/operate/operator-requests';
import { verifyLedger } from '../../../src/ledger/verify';
import { formatAmount } from '../../../src/platform/money';
import { bitcoinCodec, buildBitcoin, signDigests } from '../../bitcoin';
import { describeWithBtcd } from '../../stack/btcd';
import { NodeRefusal } from '../../../src/chains/bitcoin/rpc';
import { codeOf } from '../ledger/fixture';
import { type Answers, startBitcoinProxy } from './proxy';
import { addOutputs, type BitcoinFixture, createBitcoinFixture } from './fixture';

const coin = 100_000_000n;
let fixture: BitcoinFixture;

describeWithBtcd('later attempts on Bitcoin', () => {
  beforeEach(async () => {
    fixture = await createBitcoinFixture({ stuckAfterMs: 0 });
  }, 60_000);
  afterEach(() => fixture.close());

  const feesOf = async (txId: string) => (await fixture.attempts(txId)).map(({ fee_bound: fee }) => Number(fee));
  const booksAgree = async () => {
    const available = await fixture.unspent(fixture.alice);
    expect(await fixture.balance(fixture.alice, 'BTC')).toEqual({ available, locked: 0n });
    expect(await verifyLedger(fixture.database.manager)).toEqual([]);
  };

  test('a replacement spends the inputs of the first attempt, at a fee with which the node takes its place', async () => {
    const { alice, fund, pay, sign, send, settle, held, onChain, transaction } = fixture;
    await fund(alice, [coin]);
    const txId = await pay('0.3');
    const first = await sign(txId, 1);
    await send(txId, 1);
    const second = await sign(txId, 2);
    expect(await send(txId, 2)).toMatchObject({ outcome: 'accepted', hash: second.hash });
    const [before = 0, after = 0] = await feesOf(txId);
    expect(after).toBeGreaterThanOrEqual(before + 141);
    expect(await held(txId)).toMatchObject([{ attempts: [1, 2], held: true }]);
    expect(await onChain.observe({ txId })).toMatchObject({ state: 'pending', hash: second.hash });
    expect(second.hash).not.toBe(first.hash);
    expect(await settle(txId)).toMatchObject({ status: 'CONFIRMED' });
    expect(await transaction(txId)).toMatchObject({ tx_hash: second.hash, fee: String(after) });
    await booksAgree();
  });

  test('a replacement of what is in a block is refused at once: its inputs are spent', async () => {
    const { alice, fund, pay, sign, send, mine, follow, settle, transaction } = fixture;
    await fund(alice, [coin]);
    const txId = await pay('0.3');
    const { hash } = await sign(txId, 1);
    await send(txId, 1);
    await mine();
    await follow();
    const prepared = await fixture.onChain.prepareAttempt({ txId, attempt: 2, kind: 'replacement' });
    const begun = await fixture.ledger.beginAttempt({ txId, attempt: 2, kind: 'replacement', prepared });
    expect(begun).toMatchObject({ outcome: 'refused', isExecuted: true });
    expect(await settle(txId)).toMatchObject({ status: 'CONFIRMED' });
    expect(await transaction(txId)).toMatchObject({ tx_hash: hash });
  });

  test('an input that a replacement adds is free again once another attempt is final', async () => {
    const { alice, fund, pay, sign, send, settle, held, mine, follow } = fixture;
    await fund(alice, [coin, 50_000n]);
    // without change: one input and one output are 110 virtual bytes, and 100 satoshis do not pay for another attempt
    const txId = await pay(formatAmount(coin - 110n * (await fixture.rate()) - 100n, 8));
    await sign(txId, 1);
    await send(txId, 1);
    await sign(txId, 2);
    const both = await held(txId);
    expect(both.map(({ attempts }) => attempts)).toEqual([[1, 2], [2]]);
    // the second one is not sent: the first is in the pool
    expect(await settle(txId)).toMatchObject({ status: 'CONFIRMED' });
    await mine(fixture.chain.finalityDepth);
    await follow();
    expect((await held(txId)).map(({ held: isHeld }) => isHeld)).toEqual([true, false]);
    await booksAgree();
  });

  test('a cancellation spends the first input to the account itself, and ends the transfer once it is final', async () => {
    const { alice, database, fund, pay, sign, send, settle, held, balance, chain } = fixture;
    await fund(alice, [coin, coin]);
    const txId = await pay('1.5');
    await sign(txId, 1);
    await send(txId, 1);
    await recordAbandonRequest(database.manager, { txId, attempt: 1, operator: 'somebody' });
    await sign(txId, 2, 'cancellation');
    expect(await send(txId, 2)).toMatchObject({ outcome: 'accepted' });
    expect((await held(txId)).map(({ attempts }) => attempts)).toEqual([[1, 2], [1]]);
    expect(await settle(txId)).toMatchObject({ status: 'WAITING' });
    expect(await settle(txId, chain.finalityDepth)).toMatchObject({ status: 'FAILED' });
    const [, fee = 0] = await feesOf(txId);
    expect(await balance(alice, 'BTC')).toEqual({ available: 2n * coin - BigInt(fee), locked: 0n });
    await booksAgree();
  });

  test('later attempts spend what the first one does, also where bigger outputs have come', async () => {
    const { alice, database, fund, pay, sign, held } = fixture;
    await fund(alice, [coin]);
    const txId = await pay('0.3');
    await sign(txId, 1);
    await fund(alice, [2n * coin]);
    await addOutputs(fixture, 600, 3n * coin);
    await sign(txId, 2);
    await recordAbandonRequest(database.manager, { txId, attempt: 2, operator: 'somebody' });
    await sign(txId, 3, 'cancellation');
    expect((await held(txId)).map(({ attempts }) => attempts)).toEqual([[1, 2, 3]]);
  });

  test('that are the same message with false amounts of its inputs are not ordered: nodes could sign some digests of each', async () => {
    const { alice, database, fund, pay, sign, held, rate } = fixture;
    await fund(alice, [coin, coin]);
    const txId = await pay('1.5');
    await sign(txId, 1);
    const [first = 0] = await feesOf(txId);
    const dearer = Math.ceil((first * 5) / 4) + first / Number(await rate());
    const [input] = await held(txId);
    const falsify = 'update chain_outputs set amount = amount + $1 where resource = $2';
    // change and payment stay, so that the id does
    await database.query(falsify, [dearer - first, input?.resource]);
    await expect(sign(txId, 2)).rejects.toThrow(/is the same message/);
    await database.query(falsify, [first - dearer, input?.resource]);
    await sign(txId, 2);
  });

  describe('an input that something else has spent', () => {
    /** With the account's key, past the gateway: what a stolen key could do. */
    const spendElsewhere = async () => {
      const { alice, wallet, outside, outputs, node } = fixture;
      const coins = (await outputs(alice)).map(({ resource, amount }) => ({ resource, amount: BigInt(amount) }));
      const plan = { kind: 'first' as const, from: alice.address, fee: 20_000n, coins };
      const unsigned = buildBitcoin({ ...plan, payments: [{ to: outside, amount: 10_000n }] });
      const digests = bitcoinCodec.signingPayloads(unsigned, alice.address).map(({ digest }) => digest);
      const { privateKey } = wallet.key.derive(alice.derivationPath);
      const signed = bitcoinCodec.assemble(unsigned, signDigests(digests, privateKey as Uint8Array), alice.address);
      await node.sendRaw(signed.bytes);
      return signed.id;
    };
    const proofs = async (txId: string) => (await fixture.attempts(txId)).map(({ impossible_proof: proof }) => proof);

    test('proves an attempt impossible once it is final, and not before', async () => {
      const { alice, fund, pay, sign, mine, follow, onChain, chain } = fixture;
      await fund(alice, [coin]);
      const txId = await pay('0.3');
      await sign(txId, 1);
      const id = await spendElsewhere();
      await mine(chain.finalityDepth - 1);
      await follow();
      expect(await onChain.observe({ txId })).toMatchObject({ state: 'absent' });
      expect(await proofs(txId)).toEqual([null]);
      await mine();
      await follow();
      expect(await onChain.observe({ txId })).toMatchObject({ state: 'impossible' });
      const [input] = await fixture.held(txId);
      expect(await proofs(txId)).toMatchObject([{ input: input?.resource, used_by: id }]);
    });

    test('proves an attempt impossible by what every configured endpoint shows: not while one has not come so far, nor while one denies it', async () => {
      const { alice, fund, pay, sign, mine, follow, onChain, chain, btcd, ledger } = fixture;
      await fund(alice, [coin]);
      const txId = await pay('0.3');
      await sign(txId, 1);
      const id = await spendElsewhere();
      await mine(chain.finalityDepth);
      await follow();
      // one endpoint alone
      expect(await onChain.observe({ txId })).toMatchObject({ state: 'impossible' });
      const observeBeside = async (answers: Answers) => {
        const other = await startBitcoinProxy(btcd.url, answers);
        try {
          return await fixture.at(btcd.url, other.url).observe({ txId });
        } finally {
          other.close();
        }
      };
      const { number: height } = await fixture.client.head();
      expect(await observeBeside({ getblockcount: () => height - 1 })).toMatchObject({ state: 'absent' });
      const unknown = (asked: unknown) => {
        if (asked === id) throw new NodeRefusal(-5, 'No such transaction');
      };
      expect(await observeBeside({ getrawtransaction: unknown })).toMatchObject({ state: 'absent' });
      expect(await proofs(txId)).toMatchObject([{ used_by: id }]);
      await follow({ client: fixture.clientAt(btcd.url, btcd.url) });
      expect(await codeOf(ledger.failByProof({ txId }))).toBe('not_cancellable');
      expect(await observeBeside({})).toMatchObject({ state: 'impossible' });
      expect(await proofs(txId)).toMatchObject([{ used_by: id, agreed_by: 2 }]);
    });

    test('is believed of the chain alone: a row that names another transaction proves nothing', async () => {
      const { alice, bob, fund, pay, sign, mine, follow, onChain, database, node, chain } = fixture;
      await fund(alice, [coin]);
      const txId = await pay('0.3');
      await sign(txId, 1);
      const other = await node.fund(bob.address, coin);
      await mine(chain.finalityDepth);
      await follow();
      await database.query('update chain_outputs set spent_by = $1, spent_block = block_number where owner = $2', [
        other,
        alice.addressKey,
      ]);
      expect(await onChain.observe({ txId })).toMatchObject({ state: 'absent' });
      expect(await proofs(txId)).toEqual([null]);
    });
  });
});
