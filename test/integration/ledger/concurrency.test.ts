import { buildAccount, buildAsset, buildTransferRequest, fundAccount } from '../../factories';
import { balances, codeOf, createFixture, differences, ether, ethereum, fund, sign, usdc, type Fixture } from './fixture';

let fixture: Fixture;
beforeEach(async () => {
  // with more at once one of them may wait for a row longer than the 2 s that it has
  fixture = await createFixture({ poolSize: 8 });
});
afterEach(() => fixture.close());

const count = (codes: string[], code: string) => codes.filter((it) => it === code).length;

async function deadlocks(): Promise<number> {
  const [row] = await fixture.database.query<{ deadlocks: string }[]>(
    'select deadlocks from pg_stat_database where datname = current_database()',
  );
  return Number(row?.deadlocks);
}

test('200 concurrent locks on one asset: exactly as many as the funds allow', async () => {
  await fund(fixture, 'ETH', 10n * ether);
  await fund(fixture, 'USDC', 137n * usdc + 999_999n);
  const codes = await Promise.all(
    Array.from({ length: 200 }, () =>
      codeOf(fixture.ledger.lockTransfer(buildTransferRequest(fixture.account, ethereum, { tokenSymbol: 'USDC' }))),
    ),
  );
  expect([count(codes, 'none'), count(codes, 'insufficient_balance')]).toEqual([137, 63]);
  expect(await balances(fixture, 'USDC')).toEqual([999_999n, 137n * usdc]);
  expect(await differences(fixture)).toEqual([]);
  expect(await deadlocks()).toBe(0);
}, 60_000);

test('200 concurrent locks of the coin that also pays the fees', async () => {
  await fund(fixture, 'ETH', 50n * ether);
  const codes = await Promise.all(
    Array.from({ length: 200 }, () =>
      codeOf(fixture.ledger.lockTransfer(buildTransferRequest(fixture.account, ethereum, { amount: '0.999' }))),
    ),
  );
  expect([count(codes, 'none'), count(codes, 'insufficient_balance')]).toEqual([50, 150]);
  expect(await differences(fixture)).toEqual([]);
}, 60_000);

test('two tokens and their common fee coin, locked, cancelled and funded at once: no deadlock', async () => {
  await buildAsset(fixture.database, fixture.account, ethereum, 'USDT');
  const other = await buildAccount(fixture.database, fixture.wallet, ethereum);
  await fund(fixture, 'ETH', 100n * ether);
  await fund(fixture, 'USDC', 1000n * usdc);
  await fund(fixture, 'USDT', 1000n * usdc);
  const work = Array.from({ length: 120 }, async (_, index) => {
    const tokenSymbol = ['USDC', 'USDT', 'ETH'][index % 3] as string;
    const request = buildTransferRequest(fixture.account, ethereum, { tokenSymbol, amount: '0.01' });
    if (index % 10 === 9)
      await fundAccount(fixture.database, index % 20 === 9 ? fixture.account : other, ethereum, tokenSymbol, 1n);
    await fixture.ledger.lockTransfer(request);
    if (index % 2) await fixture.ledger.cancelTransfer({ txId: request.txId });
  });
  await Promise.all(work);
  expect(await differences(fixture)).toEqual([]);
  expect(await deadlocks()).toBe(0);
}, 60_000);

test('one request a hundred times at once is one transfer', async () => {
  await fund(fixture, 'ETH', 2n * ether);
  const request = buildTransferRequest(fixture.account, ethereum);
  const answers = await Promise.all(Array.from({ length: 100 }, () => fixture.ledger.lockTransfer(request)));
  expect(new Set(answers.map(({ txId }) => txId))).toEqual(new Set([request.txId]));
  expect((await balances(fixture, 'ETH'))[1]).toBeGreaterThan(ether);
  expect(await differences(fixture)).toEqual([]);
});

test('concurrent requests with one idempotency key pay once, although the funds suffice for one only', async () => {
  await fund(fixture, 'ETH', ether + ether / 2n);
  const first = buildTransferRequest(fixture.account, ethereum, { idempotencyKey: 'order 1' });
  const answers = await Promise.all(
    Array.from({ length: 50 }, () =>
      fixture.ledger.lockTransfer({ ...first, txId: buildTransferRequest(fixture.account, ethereum).txId }),
    ),
  );
  expect(new Set(answers.map(({ txId }) => txId)).size).toBe(1);
  expect(await differences(fixture)).toEqual([]);
});

test('concurrent transfers cannot exceed a daily limit together', async () => {
  await fund(fixture, 'ETH', 100n * ether);
  await fixture.database.query(`insert into wallet_limits (wallet_id, symbol, max_daily) values ($1, 'ETH', 7.5)`, [
    fixture.wallet.walletId,
  ]);
  const second = await buildAccount(fixture.database, fixture.wallet, ethereum);
  await fundAccount(fixture.database, second, ethereum, 'ETH', 100n * ether);
  const codes = await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      codeOf(fixture.ledger.lockTransfer(buildTransferRequest(index % 2 ? second : fixture.account, ethereum))),
    ),
  );
  expect([count(codes, 'none'), count(codes, 'business_error')]).toEqual([7, 33]);
});

test('concurrent signings take the nonces without a gap and each once', async () => {
  await fund(fixture, 'ETH', 100n * ether);
  const requests = Array.from({ length: 30 }, () => buildTransferRequest(fixture.account, ethereum, { amount: '0.1' }));
  await Promise.all(requests.map((request) => fixture.ledger.lockTransfer(request)));
  await Promise.all(requests.map(({ txId }) => sign(fixture, txId)));
  const rows = await fixture.database.query<{ nonce: string }[]>('select ordinal as nonce from reservations order by ordinal');
  expect(rows.map(({ nonce }) => Number(nonce))).toEqual(Array.from({ length: 30 }, (_, index) => index));
  expect(await differences(fixture)).toEqual([]);
});
