import { spentToday } from '../../../src/transfers/accept/limits';
import { newId } from '../../../src/platform/ids';
import { buildUser } from '../../factories';
import { begin, codeOf, createFixture, type Fixture } from '../ledger/fixture';
import { useFundedFixture } from './fixture';

/** What a daily limit counts is exact to the microsecond, although it is kept by the hour. */

interface Counted {
  tx_id: string;
  amount: number;
  /** Relative to the time of the statement. */
  created: string;
  approved: string | null;
  status: string;
}

/** Stored as they are, by the triggers that count and no others. */
async function insert(fixture: Fixture, rows: Counted[]): Promise<void> {
  await fixture.database.transaction(async (manager) => {
    await manager.query('alter table transactions disable trigger user');
    for (const trigger of ['transactions_classify', 'transactions_wallet_sum', 'transactions_wallet_sum_changed'])
      await manager.query(`alter table transactions enable trigger ${trigger}`);
    await manager.query(
      `insert into transactions (tx_id, client_id, wallet_id, account_id, asset_id, chain, transaction_type, direction, is_held, is_signed, from_address, to_address,
         to_address_key, token_symbol, decimals, amount, fee_symbol, fee_decimals, status, required_confirmations, created_at, approved_at, approved_by)
       select r.tx_id, $2, $3, $4, l.ledger_account_id, 'ethereum', 'OUTBOUND', 'out', true, true, 'x', 'y', 'y', 'USDC', 6, r.amount, 'ETH', 18, 'PENDING', 1,
              now() + r.created::interval, null, null
         from jsonb_to_recordset($1::jsonb) as r (tx_id uuid, amount numeric, created text)
         join ledger_accounts l on l.account_id = $4 and l.symbol = 'USDC' and l.chain = 'ethereum'`,
      [JSON.stringify(rows), fixture.client.clientId, fixture.wallet.walletId, fixture.account.accountId],
    );
  });
}

/** Their approvals and ends, later and each by a statement of its own. */
async function change({ database }: Fixture, rows: Counted[], userId: string): Promise<void> {
  await database.query('alter table transactions disable trigger user');
  await database.query('alter table transactions enable trigger transactions_wallet_sum_changed');
  await database.query(
    `update transactions t set approved_at = now() + r.approved::interval, approved_by = $2
       from jsonb_to_recordset($1::jsonb) as r (tx_id uuid, approved text) where t.tx_id = r.tx_id and r.approved is not null`,
    [JSON.stringify(rows), userId],
  );
  await database.query(
    `update transactions t set status = r.status from jsonb_to_recordset($1::jsonb) as r (tx_id uuid, status text)
      where t.tx_id = r.tx_id and r.status <> 'PENDING'`,
    [JSON.stringify(rows)],
  );
  await database.query('alter table transactions enable trigger user');
}

/** The rule, as a scan of all rows. */
const scanned = `select decimals, sum(amount) as sum from transactions
  where wallet_id = $1 and token_symbol = $2 and is_held and tx_id <> $3
    and coalesce(approved_at, created_at) > now() - interval '24 hours' and status not in ('REJECTED', 'FAILED', 'CANCELLED')
  group by decimals`;

/** Both at the same time of the database. */
function compare({ database, wallet }: Fixture, txId: string, isAccepted: boolean): Promise<[string, string]> {
  return database.transaction(async (manager) => {
    const parameters = [wallet.walletId, 'USDC', txId];
    const sumOf = (rows: { sum: string }[]) => String(rows.reduce((all, { sum }) => all + BigInt(sum), 0n));
    return [
      sumOf(await manager.query<{ sum: string }[]>(scanned, parameters)),
      sumOf(await manager.query<{ sum: string }[]>(spentToday, [...parameters, isAccepted])),
    ];
  });
}

const statuses = ['PENDING', 'NEEDS_ATTENTION', 'REJECTED', 'FAILED', 'CANCELLED'];

test('2,000 transfers of two days, approved, cancelled, failed or under way: the sum is that of a scan, for whichever of them is asked', async () => {
  const fixture = await createFixture({ poolSize: 1 });
  const { userId } = await buildUser(fixture.database, fixture.client);
  const random = (below: number) => Math.floor(Math.random() * below);
  const rows = Array.from({ length: 2_000 }, (_, index): Counted => {
    // every other one close to where the 24 hours begin, and close to the end of that hour
    const seconds = index % 2 === 0 ? random(49 * 3_600) : 24 * 3_600 - random(3_700) + 50;
    const approvedAfter = index % 5 === 0 ? random(seconds) : null;
    return {
      tx_id: newId(),
      amount: 1 + random(1_000_000),
      created: `-${seconds}.${random(1e6).toString().padStart(6, '0')} seconds`,
      approved: approvedAfter === null ? null : `-${seconds - approvedAfter} seconds`,
      status: statuses[random(statuses.length)] ?? 'PENDING',
    };
  });
  await insert(fixture, rows);
  await change(fixture, rows, userId);
  const [expected, actual] = await compare(fixture, newId(), false);
  expect(actual).toBe(expected);
  expect(BigInt(expected)).toBeGreaterThan(0n);
  for (const { tx_id: txId } of rows.slice(0, 200)) {
    const [scan, sum] = await compare(fixture, txId, true);
    expect([txId, sum]).toEqual([txId, scan]);
  }
  await fixture.close();
});

describe('limits', () => {
  let fixture: Fixture;
  const { request, locked } = useFundedFixture((it) => (fixture = it));

  const setLimit = (daily: string) =>
    fixture.database.query(
      `insert into wallet_limits (wallet_id, symbol, max_daily) values ($1, 'USDC', $2)
     on conflict (wallet_id, symbol) do update set max_daily = excluded.max_daily`,
      [fixture.wallet.walletId, daily],
    );

  test('20 transfers at the same time: just as many as the limit has room for are accepted', async () => {
    await setLimit('100');
    const codes = await Promise.all(
      Array.from({ length: 20 }, () => codeOf(fixture.ledger.lockTransfer(request({ amount: '10' })))),
    );
    expect(codes.filter((code) => code === 'none')).toHaveLength(10);
    expect(codes.filter((code) => code === 'business_error')).toHaveLength(10);
  });

  test('one that is cancelled, or refused, gives its amount back once; what is accepted is not counted against itself', async () => {
    await setLimit('20');
    const [first] = [await locked(), await locked()];
    expect(await codeOf(fixture.ledger.lockTransfer(request({ amount: '0.000001' })))).toBe('business_error');
    for (let i = 0; i < 2; i += 1) await fixture.ledger.cancelTransfer({ txId: first });
    const third = await locked();
    expect(await codeOf(fixture.ledger.lockTransfer(request({ amount: '0.000001' })))).toBe('business_error');
    expect((await begin(fixture, { txId: third })).outcome).toBe('begun');
  });

  test('a limit that is set later counts what was accepted before', async () => {
    await locked({ amount: '30' });
    await setLimit('39.999999');
    expect(await codeOf(fixture.ledger.lockTransfer(request({ amount: '10' })))).toBe('business_error');
    expect(await codeOf(fixture.ledger.lockTransfer(request({ amount: '9.999999' })))).toBe('none');
  });

  test('sums of two days ago go with the next new one', async () => {
    await locked();
    await fixture.database.query(`update wallet_sums set hour = hour - interval '50 hours'`);
    await locked();
    const rows = await fixture.database.query<{ amount: string }[]>('select amount from wallet_sums');
    expect(rows).toEqual([{ amount: '10000000' }]);
  });

  test('100 transfers of an hour: a limit reads eight rows', async () => {
    await Promise.all(Array.from({ length: 100 }, () => locked({ amount: '1' })));
    const [counted] = await fixture.database.query<{ rows: number; sum: string }[]>(
      `select count(*)::int as rows, sum(amount) as sum from wallet_sums`,
    );
    expect(counted?.sum).toBe('100000000');
    // an hour may have ended meanwhile
    expect(counted?.rows).toBeLessThanOrEqual(16);
  });
});
