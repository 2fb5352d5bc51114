import { AccountRepository } from '../../../src/accounts/repository';
import { AssetRepository } from '../../../src/assets/repository';
import type { TransactionFilter } from '../../../src/transactions/filter';
import { TransactionRepository } from '../../../src/transactions/repository';
import { WalletRepository } from '../../../src/wallets/repository';
import { DeliveryRepository } from '../../../src/webhooks/delivery-repository';
import { readingOf, type Step, statementsOf } from '../following/sent-statements';
import { createTestDatabase, type TestDatabase } from '../../stack/database';

/**
 * What lists ask of Postgres, as they ask it, where one client has many rows: each statement is carried out, and reads some rows of an index,
 * on the last page as on the first one.
 */

const kinds = {
  client: 1,
  wallet: 2,
  account: 3,
  asset: 4,
  transaction: 5,
  endpoint: 6,
  event: 7,
  delivery: 8,
  other: 9,
} as const;
type Kind = keyof typeof kinds;
/** Like those of production they increase with their rows. */
const idOf = (kind: Kind, n: number): string => `0000000${kinds[kind]}-0000-7000-8000-${n.toString(16).padStart(12, '0')}`;
const id = (kind: Kind, n: string): string => `('0000000${kinds[kind]}-0000-7000-8000-' || lpad(to_hex(${n}), 12, '0'))::uuid`;

/**
 * The oldest rows of each kind are of client 1, whose wallet 1 has all of its accounts, and the newest ones of the clients 2 to 11: those of client 1
 * are not at the ends of the tables.
 */
const many = 50_000;
const others = 20_000;
const all = `generate_series(1, ${many + others}) n`;
const owner = `case when n <= ${many} then 1 else 2 + n % 10 end`;
const walletOf = `case when n <= ${many} then 1 else n end`;
/** Where nearly all transactions of the others are, client 1 has five. All that it has are of one account, whose address is one of every EVM chain. */
const ofBase = 5;
const accountOf = walletOf;
const chainOf = `case when n % ${many / ofBase} = 1 or (n > ${many} and n % 10 > 0) then 'base' else 'ethereum' end`;

const rows = [
  `insert into wallets (wallet_id, client_id, wallet_name, status, key_status, key_id, public_key, chain_code)
   select ${id('wallet', 'n')}, ${id('client', owner)}, 'w', 'ACTIVE', 'ACTIVE', 'k' || n, decode(lpad(to_hex(n), 66, '0'), 'hex'), decode(lpad(to_hex(n), 64, '0'), 'hex')
     from ${all}`,
  `insert into accounts (account_id, wallet_id, client_id, family, chain, network, address, address_key, key_id, key_protocol, derivation_path, address_index)
   select ${id('account', 'n')}, ${id('wallet', walletOf)}, ${id('client', owner)}, 'evm', case when n % 10000 = 1 then 'base' else 'ethereum' end, 'local',
     'A' || n, 'a' || n, 'k', 'ecdsa-secp256k1', 'm/60/0', n from ${all}`,
  // a coin and a token of each account: one of two coins has a balance, one of two tokens was added
  `insert into ledger_accounts (ledger_account_id, account_id, wallet_id, client_id, chain, symbol, decimals, contract_address, available, is_added)
   select ${id('asset', `2 * n + is_token`)}, ${id('account', 'n')}, ${id('wallet', walletOf)}, ${id('client', owner)}, 'ethereum',
     case is_token when 1 then 'USDC' else 'ETH' end, 18, case is_token when 1 then 'x' end, (n + is_token) % 2, is_token = 1 and n % 2 = 0
     from ${all}, generate_series(0, 1) is_token`,
  `insert into assets (asset_id, account_id, wallet_id, client_id)
   select ledger_account_id, account_id, wallet_id, client_id from ledger_accounts where is_added`,
  `insert into transactions (tx_id, client_id, wallet_id, account_id, asset_id, chain, transaction_type, direction, is_held, is_signed, from_address, to_address, to_address_key,
     token_symbol, decimals, amount, status, tx_hash, position, block_number, block_hash, required_confirmations, ended_at)
   select ${id('transaction', 'n')}, ${id('client', owner)}, ${id('wallet', walletOf)}, ${id('account', accountOf)}, ${id('asset', '2 * n')}, ${chainOf},
     'INBOUND', 'in', false, false, repeat('x', 42), repeat('y', 42), repeat('y', 42), 'ETH', 18, 1, 'CONFIRMED', lpad(n::text, 66, 'h'), '0', n,
     repeat('b', 66), 1, now() from ${all}`,
  // of a thousand one waits and ten have failed; at endpoint 2 none has
  `insert into webhook_events (event_id, position, client_id, kind, subject_id, snapshot) overriding system value
   select ${id('event', 'n')}, n, ${id('client', owner)}, 'wallet.active', ${id('wallet', 'n')}, '{}' from ${all}`,
  `insert into webhook_deliveries (delivery_id, webhook_id, event_id, subject_id, position, status, ended_at, next_attempt_at, undispatched_since)
   select ${id('delivery', 'n')}, ${id('endpoint', owner)}, ${id('event', 'n')}, ${id('wallet', 'n')}, n, status,
     case when status <> 'pending' then now() end, case when status = 'pending' then now() end, case when status = 'pending' then now() end
     from ${all}, lateral (
       select case when n % 1000 = 77 then 'pending' when n % 100 = 7 then 'failed' else 'delivered' end as status) s`,
  `insert into webhook_attempts (delivery_id, attempt, at, duration_ms, status_code)
   select ${id('delivery', 'n')}, attempt, now(), 1, 200 from ${all}, generate_series(1, 2) attempt`,
  `insert into list_totals (list, subject_id, chain, slot, client_id, total)
   select 'wallets', client_id, '', 0, client_id, count(*) from wallets group by client_id
   union all select 'accounts', subject, chain, 0, client_id, count(*) from accounts, unnest(array[client_id, wallet_id]) subject group by subject, chain, client_id
   union all select 'transactions', subject, chain, 0, client_id, count(*) from transactions, unnest(array[client_id, wallet_id, account_id]) subject group by subject, chain, client_id`,
  // what the last ten seconds have changed is not added up
  `insert into list_counts (list, subject_id, part, change_id, counted)
   select 'deliveries', webhook_id, status, 0, count(*) from webhook_deliveries group by webhook_id, status
   union all select 'assets', client_id, '', 0, count(*) from ledger_accounts where is_shown group by client_id
   union all select 'deliveries', ${id('other', 'n')}, 'delivered', 0, 1 from ${all}`,
];

let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await createTestDatabase({ poolSize: 2 });
  await testDatabase.database.transaction(async (manager) => {
    await manager.query(`set local session_replication_role = 'replica'`);
    for (const statement of rows) await manager.query(statement);
  });
  await testDatabase.database.query('vacuum analyze');
}, 180_000);
afterAll(() => testDatabase.drop());

const client = idOf('client', 1);
const wallet = idOf('wallet', 1);
const account = idOf('account', 1);
const at = (offset: number) => ({ limit: 10, offset });
const wallets =
  (offset: number): Step =>
  (_, database) =>
    new WalletRepository(database, {} as never).list(client, {}, at(offset));
const accounts =
  (filter: Parameters<AccountRepository['list']>[1], offset: number): Step =>
  (_, database) =>
    new AccountRepository(database).list(client, filter, at(offset));
const assets =
  (accountId: string | undefined, offset: number): Step =>
  (_, database) =>
    new AssetRepository(database).list(client, accountId, at(offset));
const transactions =
  (filter: TransactionFilter, offset: number, after?: string): Step =>
  (_, database) =>
    new TransactionRepository(database).list(client, filter, { ...at(offset), after });
const deliveries =
  (endpoint: number, status: string | undefined, offset: number): Step =>
  (_, database) =>
    new DeliveryRepository(database).list(idOf('endpoint', endpoint), status, at(offset));

const [failed, pending] = [many / 100, many / 1_000];

test.each<[name: string, index: string, step: Step]>([
  ['a client’s wallets', 'wallets_by_client', wallets(0)],
  ['their last page', 'wallets_by_client', wallets(many - 10)],
  ['a client’s accounts', 'accounts_by_client', accounts({}, 0)],
  ['their last page', 'accounts_by_client', accounts({}, many - 10)],
  ['a client’s accounts of a chain that has few', 'accounts_by_client_and_chain', accounts({ chain: 'base' }, 0)],
  ['a wallet’s accounts', 'accounts_by_wallet', accounts({ walletId: wallet }, 0)],
  ['their last page', 'accounts_by_wallet', accounts({ walletId: wallet }, many - 10)],
  ['a wallet’s accounts of a chain that has few', 'accounts_by_', accounts({ walletId: wallet, chain: 'base' }, 0)],
  ['a client’s assets', 'ledger_accounts_shown', assets(undefined, 0)],
  ['their last page', 'ledger_accounts_shown', assets(undefined, many - 10)],
  ['an account’s assets', 'ledger_accounts_account_id_chain_symbol_key', assets(idOf('account', 500), 0)],
  ['a client’s transactions', 'transactions_by_client', transactions({}, 0)],
  ['their last page', 'transactions_by_client', transactions({}, many - 10)],
  ['a wallet’s transactions', 'transactions_by_wallet', transactions({ walletId: wallet }, 0)],
  ['their last page', 'transactions_by_wallet', transactions({ walletId: wallet }, many - 10)],
  ['an account’s transactions', 'transactions_by_account', transactions({ accountId: account }, 0)],
  ['their last page', 'transactions_by_account', transactions({ accountId: account }, many - 10)],
  ...Object.entries({ client: {}, wallet: { walletId: wallet }, account: { accountId: account } }).flatMap(([name, filter]) => {
    const few = { ...filter, chain: 'base' };
    const most = { ...filter, chain: 'ethereum' };
    return [
      [`a ${name}: those on a chain where it has few and others many`, `transactions_by_${name}_and_chain`, transactions(few, 0)],
      ['those after one', `transactions_by_${name}_and_chain`, transactions(few, 0, idOf('transaction', many / 2))],
      [`a ${name}: those on the chain where nearly all are`, `transactions_by_${name}`, transactions(most, 0)],
      ['their last page', `transactions_by_${name}`, transactions(most, many - ofBase - 10)],
    ] satisfies [string, string, Step][];
  }),
  ['an endpoint’s deliveries', 'webhook_deliveries_by_webhook', deliveries(1, undefined, 0)],
  ['their last page', 'webhook_deliveries_by_webhook', deliveries(1, undefined, many - 10)],
  ['those that were delivered', 'webhook_deliveries_by_', deliveries(1, 'delivered', 0)],
  ['their last page', 'webhook_deliveries_by_', deliveries(1, 'delivered', many - failed - pending - 10)],
  ['those that have failed', 'webhook_deliveries_by_status', deliveries(1, 'failed', 0)],
  ['those that wait', 'webhook_deliveries_', deliveries(1, 'pending', 0)],
  ['those that have failed at an endpoint where none has', 'webhook_deliveries_', deliveries(2, 'failed', 0)],
  ['a page behind the last one', 'list_counts_pkey', deliveries(1, undefined, 10 * many)],
])('%s: %s', async (_, index, step) => {
  const indexes: string[] = [];
  for (const sent of await statementsOf(testDatabase.database, step)) {
    const [text] = sent;
    const reading = await readingOf(testDatabase.database, sent);
    indexes.push(...reading.indexes);
    expect([text, reading.scanned]).toEqual([text, []]);
    expect(reading.rows).toBeLessThan(100);
    expect(text).not.toMatch(/count\(/);
  }
  expect(indexes.join(' ')).toContain(index);
});

test('changes are added up without reading the sums of others', async () => {
  const { database } = testDatabase;
  const scans = async () => {
    await database.query('select pg_stat_force_next_flush()');
    const [row] = await database.query<{ scans: string }[]>(
      `select seq_scan as scans from pg_stat_user_tables where relname = 'list_counts'`,
    );
    return row?.scans;
  };
  await database.query(
    `insert into list_counts (list, subject_id, part, counted) select 'deliveries', ${id('other', 'n')}, 'delivered', 1 from generate_series(1, 300) n`,
  );
  const before = await scans();
  expect(await database.query('select fold_list_counts(200) as folded')).toEqual([{ folded: 200 }]);
  expect(await database.query('select fold_list_counts(200) as folded')).toEqual([{ folded: 100 }]);
  expect(await scans()).toBe(before);
});
