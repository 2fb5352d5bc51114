import { createHash } from 'node:crypto';
import { listTotal } from '../../../src/http/list-totals';
import { promisedGas } from '../../../src/settlers/promised-gas';
import { dueBlacklist } from '../../../src/screening/distribution';
import { refusedLately } from '../../../src/settlers/refused-lately';
import { countStatement, type ListWhere, listStatement, type Statement } from '../../../src/transactions/shown-rows';
import { spentToday } from '../../../src/transfers/accept/limits';
import { isBeingGenerated } from '../../../src/wallets/generation-limits';
import { waitingDeliveries } from '../../../src/monitoring/backlogs';
import { dueDeliveries } from '../../../src/webhooks/dispatcher';
import { countedCost } from '../../../src/x402/settlement/gas-budget';
import { isBraked } from '../../../src/x402/settlement/payer-brake';
import { openDeployment } from '../../../src/x402/settlement/open-deployment';
import { createFixture, type Fixture } from './fixture';

/**
 * Frequent queries on large tables use their index. Rows are like those of production, inserted without triggers. What lists send is in
 * ../http/list-plans.test.ts.
 */

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture({ poolSize: 2 });
  await fixture.database.transaction(async (manager) => {
    await manager.query(`set local session_replication_role = 'replica'`);
    for (const statement of manyRows) await manager.query(statement);
  });
  await fixture.database.query('analyze');
}, 60_000);
afterAll(() => fixture.close());

/** 20,000 accounts of 100 clients, 60,000 transactions of them. */
const manyRows = [
  `insert into accounts (account_id, wallet_id, client_id, family, chain, network, address, address_key, key_id, key_protocol, derivation_path, address_index)
   select md5('a' || n)::uuid, md5('w' || n / 10)::uuid, md5('c' || n / 200)::uuid, 'evm', 'ethereum', 'local', 'A' || n, 'a' || n, 'k', 'ecdsa-secp256k1', 'm/60/0', n from generate_series(1, 20000) n`,
  `insert into ledger_accounts (ledger_account_id, account_id, wallet_id, client_id, chain, symbol, decimals)
   select md5(symbol || n)::uuid, md5('a' || n)::uuid, md5('w' || n / 10)::uuid, md5('c' || n / 200)::uuid, 'ethereum', symbol, 18
     from generate_series(1, 20000) n, unnest(array['ETH', 'USDC']) symbol`,
  `insert into assets (asset_id, account_id, wallet_id, client_id) select ledger_account_id, account_id, wallet_id, client_id from ledger_accounts
   on conflict do nothing`,
  `insert into transactions (tx_id, client_id, wallet_id, account_id, asset_id, chain, transaction_type, direction, is_held, is_signed, from_address, to_address, to_address_key, token_symbol, decimals,
     amount, fee_symbol, fee_decimals, fee, status, signing_begun_at, tx_hash, position, block_number, block_hash, required_confirmations, idempotency_key, ended_at, created_at)
   select md5('t' || n)::uuid, md5('c' || (n % 20000) / 200)::uuid, md5('w' || (n % 20000) / 10)::uuid, md5('a' || n % 20000)::uuid, md5('ETH' || n % 20000)::uuid,
     'ethereum', case when n % 2 = 0 then 'OUTBOUND' else 'INBOUND' end, case when n % 2 = 0 then 'out' else 'in' end, n % 2 = 0, n % 2 = 0, 'x' || n % 500, 'y' || n % 500, 'y', 'ETH', 18, 1, 'ETH', 18, case when n % 2 = 0 then 1 end,
     case when n % 2 = 1 and n > 59800 then 'DETECTED' else 'CONFIRMED' end, case when n % 2 = 0 then now() end, 'h' || n, case when n % 2 = 1 then '0' end, n, 'b', 1,
     case when n % 2 = 0 then 'k' || n end, case when n % 2 = 0 or n <= 59800 then now() end, now() - n * interval '1 minute'
     from generate_series(1, 60000) n`,
  `insert into security_factors (factor_id, client_id, factor_type, chain, address, address_key, added_by)
   select md5('f' || n)::uuid, md5('c' || n % 100)::uuid, 'BLACKLIST', 'ethereum', 'y' || n, 'y' || n, md5('u')::uuid from generate_series(1, 20000) n`,
  `insert into reservations (chain, owner, resource, ordinal, tx_id)
   select 'ethereum', 'a' || n % 200, n / 200, n / 200, md5('t' || n)::uuid from generate_series(2, 60000, 2) n`,
  `insert into transfer_attempts (tx_id, attempt, kind, chain, prepared, unsigned, signers, message_key, fee_bound, tx_hash, signed, signed_at)
   select tx_id, 1, 'first', chain, '{}', '0x', '[]', tx_id, 1, tx_id, '0x', now() from reservations`,
  `insert into attempt_reservations select tx_id, 1, reservation_id from reservations`,
  `insert into attempt_ids (chain, id, tx_id, attempt) select chain, tx_hash, tx_id, attempt from transfer_attempts`,
  `insert into ledger_postings (posting_id, tx_id, kind, seq, entries) select md5('p' || n)::uuid, md5('t' || n)::uuid, 'lock', 0, 2 from generate_series(1, 60000) n`,
  `insert into ledger_entries (posting_id, line, ledger_account_id, bucket, chain, symbol, amount)
   select md5('p' || n)::uuid, line, md5('ETH' || n % 20000)::uuid, 'AVAILABLE', 'ethereum', 'ETH', 1 from generate_series(1, 60000) n, generate_series(0, 1) line`,
  // 20,000 settlements of 20 settlers, each with 50 that have not ended
  `insert into transactions (tx_id, client_id, chain, transaction_type, direction, is_held, is_signed, from_address, sender_address, to_address, token_symbol, decimals,
     amount, fee_symbol, fee_decimals, fee, status, required_confirmations, ended_at)
   select md5('s' || n)::uuid, md5('c' || n % 100)::uuid, 'ethereum', 'X402_SETTLE', 'out', false, true, 'p' || n, 'S' || n % 20, 'y', 'USDC', 6, 1, 'ETH', 18,
     case when n > 1000 then 1 end, case when n > 1000 then 'FAILED' else 'PENDING' end, 1, case when n > 1000 then now() end
     from generate_series(1, 20000) n`,
  `insert into x402_settlements (tx_id, client_id, chain, scheme, payload_type, identity, request_hash, version, authorised, amount, valid_after, window_end, action, gas_bound)
   select md5('s' || n)::uuid, md5('c' || n % 100)::uuid, 'ethereum', 'exact', 'eip3009', 'i' || n, decode(repeat('00', 32), 'hex'), 2, 1, 1, 0, 1, '{}', 1
     from generate_series(1, 20000) n`,
  `insert into x402_costs (client_id, chain, hour, slot, fees, given)
   select md5('c' || n)::uuid, 'ethereum', date_trunc('hour', now() - hours * interval '1 hour'), slot, 1, 0
     from generate_series(0, 99) n, generate_series(0, 24) hours, generate_series(0, 7) slot`,
  `insert into blacklist_versions (client_id, version, dispatched, dispatched_at)
   select md5('c' || n)::uuid, 1, case when n > 19990 then 0 else 1 end, now() - case when n < 10 then interval '2 hours' else interval '1 minute' end
     from generate_series(0, 20000) n`,
  `insert into wallets (wallet_id, client_id, wallet_name, status, key_status, key_id, public_key, chain_code)
   select md5('w' || n)::uuid, md5('c' || n / 20)::uuid, 'w', 'ACTIVE', 'ACTIVE', 'k' || n, decode(lpad(to_hex(n), 66, '0'), 'hex'), decode(lpad(to_hex(n), 64, '0'), 'hex')
     from generate_series(0, 20000) n`,
  `insert into workflow_outbox (kind, subject_id, client_id, chain) select 'start_transfer', md5('t' || n)::uuid, md5('c' || n)::uuid, 'ethereum' from generate_series(1, 20000) n`,
  `insert into webhook_deliveries (webhook_id, event_id, subject_id, position, status, ended_at, next_attempt_at, undispatched_since)
   select md5('h' || n % 10)::uuid, md5('e' || n)::uuid, md5('e' || n)::uuid, n, 'delivered', now(), null, null from generate_series(1, 20000) n`,
  `insert into wallet_sums (wallet_id, symbol, hour, decimals, slot, amount)
   select md5('w' || n)::uuid, 'ETH', date_trunc('hour', now() - hours * interval '1 hour'), 18, slot, 1
     from generate_series(0, 1999) n, generate_series(0, 24) hours, generate_series(0, 1) slot`,
  `insert into list_totals (list, subject_id, chain, slot, client_id, total)
   select 'transactions', md5('c' || n)::uuid, 'ethereum', slot, md5('c' || n)::uuid, 1 from generate_series(0, 99) n, generate_series(0, 7) slot
   union all select 'transactions', md5('a' || n)::uuid, 'ethereum', 0, md5('c' || n / 200)::uuid, 1 from generate_series(1, 20000) n`,
  `insert into x402_failures (tx_id, client_id, chain, payer)
   select md5('s' || n)::uuid, md5('c' || n % 100)::uuid, 'ethereum', 'p' || n from generate_series(1, 20000) n`,
];

const account = `md5('a500')::uuid`;
const client = `md5('c7')::uuid`;
const transfer = `md5('t500')::uuid`;
/** A statement with its parameters in it. */
const withValues = (sql: string, ...values: string[]): string =>
  sql.replace(/\$(\d+)/g, (_, n: string) => values[Number(n) - 1] ?? '');
const firstPage = { order: 'desc', limit: 10, offset: 0 } as const;
const literal = ({ text, values }: Statement): string =>
  withValues(text, ...values.map((value) => (Array.isArray(value) ? `'{${value.join(',')}}'` : `'${String(value)}'`)));
/** Ids are those of `md5` in the rows. */
const idOf = (name: string): string =>
  createHash('md5')
    .update(name)
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
const ofClient = (...more: ListWhere['among']): ListWhere => ({ among: [['client_id', [idOf('c7')]], ...more] });
const listOf = (where: ListWhere): string => literal(listStatement(where, firstPage));
const recent = { createdAfter: new Date(Date.now() - 86_400_000), createdBefore: new Date(Date.now() - 3_600_000) };
const cursor = idOf('t500');
const spent = withValues(spentToday, `md5('w7')::uuid`, `'ETH'`, transfer, 'true');

test.each([
  [
    'account by address',
    'accounts_family_address_key_key',
    `select * from accounts where family = 'evm' and address_key = 'a500' and client_id = ${client}`,
  ],
  [
    'which addresses are ours',
    'accounts_family_address_key_key',
    `select address_key from accounts where family = 'evm' and address_key = any(array['a1', 'y'])`,
  ],
  [
    'ledger account of a token',
    'ledger_accounts_account_id_chain_symbol_key',
    `select * from ledger_accounts where account_id = ${account} and chain = 'ethereum' and symbol = 'ETH'`,
  ],
  [
    'ledger accounts to lock',
    'ledger_accounts_pkey',
    `select * from ledger_accounts where ledger_account_id in (md5('ETH5')::uuid, md5('USDC5')::uuid) order by ledger_account_id for no key update`,
  ],
  [
    'transfer by idempotency key',
    'transfers_by_idempotency_key',
    `select * from transactions where client_id = ${client} and idempotency_key = 'k500' and is_held`,
  ],
  [
    'entries about a destination',
    'security_factors_active',
    `select factor_type from security_factors where client_id = ${client} and factor_type in ('BLACKLIST', 'WHITELIST') and chain = 'ethereum'
      and address_key = 'y507' and status = 'active' and deleted_at is null`,
  ],
  [
    'transfers that a new entry concerns',
    'transfers_open_to',
    `select tx_id from transactions where is_held and ended_at is null and client_id = ${client} and chain = 'ethereum'
      and to_address_key = 'y507' order by tx_id for no key update`,
  ],
  [
    'approvals whose time is over',
    'approvals_expiring',
    `select tx_id, client_id from transactions where status = 'AWAITING_APPROVAL' and approval_expires_at <= clock_timestamp() order by approval_expires_at limit 50`,
  ],
  ['daily sum, of whole hours', 'wallet_sums_pkey', spent],
  ['daily sum, of the hour in which the day begins', 'transfers_counted', spent],
  ['blacklists that have changed', 'blacklist_versions_due', withValues(dueBlacklist, `'{}'`)],
  ['blacklists that are old', 'blacklist_versions_dispatched_at', withValues(dueBlacklist, `'{}'`)],
  ['deliveries that wait for a dispatcher', 'webhook_deliveries_undispatched', withValues(dueDeliveries, `'{}'`)],
  ['deliveries that wait, counted', 'webhook_deliveries_pending', waitingDeliveries],
  [
    'wallets that wait for their key',
    'wallets_generating',
    `select w.wallet_id, w.client_id from wallets w where ${isBeingGenerated} and w.created_at < clock_timestamp() - interval '5 minutes'
      order by w.wallet_id limit 100`,
  ],
  [
    'deposits to credit',
    'deposits_detected',
    `select * from transactions where chain = 'ethereum' and status = 'DETECTED' and block_number <= 59900 order by block_number limit 500`,
  ],
  [
    'deposits to undo',
    'deposits_by_block',
    `select * from transactions where chain = 'ethereum' and block_number >= 59990 and direction = 'in' and status in ('DETECTED', 'CONFIRMED') order by block_number desc limit 500`,
  ],
  [
    'orphaned deposits of a place',
    'deposits_orphaned',
    `select o.tx_id from transactions t join transactions o on o.account_id = t.account_id and o.asset_id = t.asset_id and o.status = 'ORPHANED'
      and o.chain = t.chain and o.tx_hash = t.tx_hash and o.position = t.position where t.tx_id = any(array[md5('t501')::uuid, md5('t503')::uuid])`,
  ],
  [
    'lowest free nonce',
    'reservations_by_ordinal',
    `select ordinal + 1 from reservations where chain = 'ethereum' and owner = 'a50' and ordinal >= 290`,
  ],
  [
    'what is in front of a transfer',
    'reservations_by_ordinal',
    `select b.tx_id from reservations b where b.chain = 'ethereum' and b.owner = 'a50' and b.ordinal is not null and b.ordinal < 290 order by b.ordinal desc limit 1`,
  ],
  [
    'what a transfer has reserved',
    'reservations_',
    `select * from reservations where tx_id = ${transfer} and released_at is null order by reservation_id`,
  ],
  ['attempts of a transfer', 'transfer_attempts_', `select * from transfer_attempts where tx_id = ${transfer} order by attempt`],
  ['attempt by id', 'attempt_ids_pkey', `select * from attempt_ids where chain = 'ethereum' and id = any(array['x', 'y'])`],
  [
    'attempt by message',
    'transfer_attempts_chain_message_key_key',
    `select * from transfer_attempts where chain = 'ethereum' and message_key = any(array['x', 'y'])`,
  ],
  [
    'postings of a transaction',
    'ledger_postings_tx_id_kind_seq_key',
    `select * from ledger_postings p join ledger_entries e using (posting_id) where p.tx_id = ${transfer}`,
  ],
  [
    'entries of an account',
    'ledger_entries_by_account',
    `select * from ledger_entries where ledger_account_id = md5('ETH5')::uuid`,
  ],
  ['a client’s transactions', 'transactions_by_client', listOf(ofClient())],
  ['a wallet’s transactions', 'transactions_by_wallet', listOf(ofClient(['wallet_id', [idOf('w7')]]))],
  ['an account’s transactions', 'transactions_by_account', listOf(ofClient(['account_id', [idOf('a500')]]))],
  ['a client’s transactions of a chain that has few', 'transactions_by_client_and_chain', listOf(ofClient(['chain', ['base']]))],
  ['those after a cursor', 'transactions_by_client', listOf({ ...ofClient(), after: cursor })],
  ['those of a period', 'transactions_by_creation', listOf({ ...ofClient(), ...recent })],
  ['those in one of two states', 'transactions_by_status', listOf(ofClient(['status', ['PENDING', 'DETECTED']]))],
  [
    'those in a state, after a cursor',
    'transactions_by_status',
    listOf({ ...ofClient(['status', ['DETECTED']]), after: cursor }),
  ],
  ['those from an address', 'transactions_by_sender', listOf(ofClient(['from_address', ['x7', 'X7']]))],
  ['those to an address', 'transactions_by_recipient', listOf({ ...ofClient(['to_address', ['y7', 'Y7']]), after: cursor })],
  ['those with a hash', 'transactions_by_hash', listOf(ofClient(['tx_hash', ['h700', 'H700']]))],
  ['the one with an external id', 'transactions_by_external_id', listOf(ofClient(['external_id', ['e7']]))],
  [
    'how many are in a state',
    'transactions_by_status',
    literal(countStatement(ofClient(['status', ['PENDING', 'DETECTED']]), 1_000)),
  ],
  ['how many are of a period', 'transactions_by_creation', literal(countStatement({ ...ofClient(), ...recent }, 1_000))],
  [
    'the wallet with an external id',
    'wallets_by_external_id',
    `select * from wallets where client_id = ${client} and external_id = 'e7'`,
  ],
  [
    'the account with an external id',
    'accounts_by_external_id',
    `select * from accounts where client_id = ${client} and external_id = 'e7'`,
  ],
  ['how many transactions a client has', 'list_totals_pkey', withValues(listTotal, `'transactions'`, client, client, 'null')],
  [
    'how many transactions of a chain an account has',
    'list_totals_pkey',
    withValues(listTotal, `'transactions'`, account, client, `'ethereum'`),
  ],
  ['what a settler may have to pay', 'settlements_open_by_sender', `select ${promisedGas(`'ethereum'`, `'S5'`)}`],
  ['what nodes have refused', 'settlements_refused', `select ${refusedLately(client, `'ethereum'`, `'S5'`, 'false')}`],
  ['who creates a wallet', 'settlements_open_by_sender', `select ${openDeployment(`'ethereum'`, `'p500'`)}`],
  [
    'what is counted for a client',
    'x402_costs_pkey',
    `select ${countedCost('fees', 'p')} from (values (md5('c7')::uuid, 'ethereum')) p (client_id, chain)`,
  ],
  [
    'which payments of a payer have failed',
    'x402_failures_by_payer',
    `select ${isBraked('p', `'p7'`)} from (values (md5('c7')::uuid, 'ethereum', 5)) p (client_id, chain, failures_per_payer)`,
  ],
])('%s', async (_, index, query) => {
  const rows = await fixture.database.query<{ 'QUERY PLAN': string }[]>(`explain ${query}`);
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  expect(plan).toContain(index);
  expect(plan).not.toMatch(/Seq Scan/);
});
