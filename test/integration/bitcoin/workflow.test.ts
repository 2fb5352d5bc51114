import { ApplicationFailure } from '@temporalio/common';
import { verifyLedger } from '../../../src/ledger/verify';
import { listAddress } from '../screening/factors';
import { describeWithBtcd } from '../../stack/btcd';
import { ServedChain, until } from '../transfers/served';
import { type BitcoinFixture, createBitcoinFixture } from './fixture';

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

  test('a transfer of two inputs passes what the nodes verify, and is confirmed', async () => {
    await served.serve();
    const txId = await submit();
    await attemptCount(txId, 1);
    await served.ends(txId, 'CONFIRMED');
    expect(await fixture.held(txId)).toHaveLength(2);
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
});
