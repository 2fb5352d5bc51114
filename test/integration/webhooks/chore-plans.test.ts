import { pino } from 'pino';
import { sendRequestedWithdrawals } from '../../../src/settlers/withdrawals/send';
import { WebhookDispatcher } from '../../../src/webhooks/dispatcher';
import { readingOf, type Step, statementsOf } from '../following/sent-statements';
import { createTestDatabase, type TestDatabase } from '../../stack/database';

/**
 * What workers ask of Postgres again and again without being asked to: the sweep of webhooks, each minute, and which withdrawals from settlers
 * are to be made, each second; where there are many endpoints, deliveries and made withdrawals, and little or nothing to do.
 */

const many = 60_000;
const all = `generate_series(1, ${many}) n`;
const id = (kind: number, n = 'n'): string => `('0000000${kind}-0000-7000-8000-' || lpad(to_hex(${n}), 12, '0'))::uuid`;
const client = id(1, '1');
const settler = id(2, '1');
const unmade = 5;

const rows = [
  // of 20,000 one has had its secret replaced, and one of these three long ago
  `insert into webhook_endpoints (webhook_id, client_id, url, secret, secret_created_by, previous_secret, previous_secret_until)
   select ${id(3)}, ${client}, 'https://a.example/' || n, 's', ${id(3)}, case when n % 20000 = 0 then 'p'::bytea end,
     case when n % 20000 = 0 then now() + case n when 20000 then -1 else 1 end * interval '1 hour' end from ${all}`,
  // as many as make it worthwhile to look for the thousand that are deleted at a time by their ids
  `insert into webhook_events (event_id, position, client_id, kind, subject_id, snapshot, created_at) overriding system value
   select ${id(4)}, n, ${client}, 'wallet.active', ${client}, '{}', now() - case when n <= ${many / 10} then 31 else 1 end * interval '1 day'
     from generate_series(1, ${10 * many}) n`,
  // of a thousand one waits for its next attempt
  `insert into webhook_deliveries (delivery_id, webhook_id, event_id, subject_id, position, status, ended_at, next_attempt_at, undispatched_since)
   select ${id(5)}, ${id(3)}, ${id(4)}, ${client}, n, status, case status when 'delivered' then now() end,
     case status when 'pending' then now() + interval '1 hour' end, null
     from ${all}, lateral (select case n % 1000 when 1 then 'pending' else 'delivered' end as status) s`,
  // of one settler, the last ones are not made
  `insert into settler_withdrawals (withdrawal_id, settler_id, to_address, to_address_key, operator, requested_at, is_made)
   select ${id(6)}, ${settler}, 'a', 'a', 'x', now() + n * interval '1 second', n <= ${many - unmade} from ${all}`,
  `insert into transactions (tx_id, client_id, wallet_id, account_id, asset_id, chain, transaction_type, direction, is_held, is_signed, from_address, to_address, to_address_key,
     token_symbol, decimals, amount, fee_symbol, fee_decimals, fee_locked, status, required_confirmations, ended_at)
   select ${id(6)}, ${client}, ${client}, ${client}, ${client}, 'ethereum', 'GAS_WITHDRAWAL', 'out', true, true, 'a', 'a', 'a', 'ETH', 18, 1, 'ETH', 18, 1,
     'CANCELLED', 1, now() from ${all} where n <= ${many - unmade}`,
];

let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await createTestDatabase({ poolSize: 2 });
  const { database } = testDatabase;
  await database.query('update order_comparison set compared_as = database_incarnation(), compared_at = now()');
  await database.transaction(async (manager) => {
    await manager.query(`set local session_replication_role = 'replica'`);
    for (const statement of rows) await manager.query(statement);
  });
  await database.query('vacuum analyze');
}, 180_000);
afterAll(() => testDatabase.drop());

const sweep: Step = (_, database) => new WebhookDispatcher(database, {} as never, pino({ level: 'silent' })).sweep();

test('the sweep of webhooks reads no table from end to end', async () => {
  const sent = await statementsOf(testDatabase.database, sweep);
  expect(sent.length).toBeGreaterThanOrEqual(3);
  for (const statement of sent) {
    const [text] = statement;
    const { scanned, rows: read } = await readingOf(testDatabase.database, statement);
    expect([text, scanned]).toEqual([text, []]);
    // a thousand events, and what each still has to deliver
    expect([text, read < many / 6 || read]).toEqual([text, true]);
  }
});

test('which withdrawals are to be made is asked of those that are not made', async () => {
  const [sent] = await statementsOf(testDatabase.database, (_, database) =>
    // each of them fails: there is no such settler
    sendRequestedWithdrawals({ database, registry: {} as never, getFamily: {} as never }).catch(() => undefined),
  );
  if (!sent) throw new Error('nothing is asked');
  const reading = await readingOf(testDatabase.database, sent);
  expect(reading).toEqual({ indexes: ['settler_withdrawals_to_make'], scanned: [], rows: unmade });
});
