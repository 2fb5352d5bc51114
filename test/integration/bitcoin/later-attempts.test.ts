import { recordAbandonRequest } from '../../../src/transfers/operator-requests';
import { verifyLedger } from '../../../src/ledger/verify';
import { formatAmount } from '../../../src/platform/money';
import { describeWithBtcd } from '../../stack/btcd';
import { type BitcoinFixture, createBitcoinFixture } from './fixture';

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
    expect(await send(txId, 2)).toEqual({ outcome: 'accepted', hash: second.hash });
    const [before = 0, after = 0] = await feesOf(txId);
    expect(after).toBeGreaterThanOrEqual(before + 141);
    expect(await held(txId)).toMatchObject([{ attempts: [1, 2], held: true }]);
    expect(await onChain.observe({ txId })).toMatchObject({ state: 'pending', hash: second.hash });
    expect(second.hash).not.toBe(first.hash);
    expect(await settle(txId)).toMatchObject({ status: 'CONFIRMED' });
    expect(await transaction(txId)).toMatchObject({ tx_hash: second.hash, fee: String(after) });
    await booksAgree();
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
});
