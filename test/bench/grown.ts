import type { DataSource } from 'typeorm';
import { getOrCreateSecret } from '../../dev/files';
import { devPaths } from '../../dev/paths';
import { dataFolder, stack } from '../stack/client';
import { openDatabase } from '../stack/database';

/** The stack's database as its superuser, who can insert rows without triggers. */
export function openAsSuperuser(): Promise<DataSource> {
  const url = new URL(stack().postgres.url);
  url.username = 'postgres';
  url.password = getOrCreateSecret(devPaths(dataFolder()).secrets, 'postgres-superuser', () => {
    throw new Error('the stack has no superuser of its own');
  });
  return openDatabase(url.toString(), { poolSize: 1 });
}

/**
 * Ended transactions of one account, as they are long after their end: numbers `from` to `to`, every second one a transfer with its attempt, the
 * others deposits. They are in blocks before the first one of the local chain, and their nonces are another address's.
 */
export async function insertEnded(database: DataSource, accountId: string, from: number, to: number): Promise<void> {
  await database.transaction(async (manager) => {
    await manager.query(`set local session_replication_role = 'replica'; set local statement_timeout = 0`);
    await manager.query(
      `create temporary table old on commit drop as
       select n, n % 2 = 0 as is_out, (lpad(to_hex(n), 8, '0') || '-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid as tx_id,
              l.ledger_account_id as asset_id, a.account_id, a.wallet_id, a.client_id, a.address, now() - interval '3 days' - n * interval '1 second' as at
         from generate_series(${from}::int, ${to}::int) n, accounts a join ledger_accounts l on l.account_id = a.account_id and l.symbol = 'ETH' and l.chain = 'ethereum'
        where a.account_id = $1`,
      [accountId],
    );
    for (const statement of rowsOfOld) await manager.query(statement);
  });
  await database.query('vacuum analyze');
}

const rowsOfOld = [
  `insert into transactions (tx_id, client_id, wallet_id, account_id, asset_id, chain, transaction_type, direction, is_held, is_signed,
     from_address, to_address, to_address_key, token_symbol, decimals, amount, fee_symbol, fee_decimals, fee, status, signing_begun_at, tx_hash,
     position, block_number, block_hash, required_confirmations, created_at, ended_at, finalized_at, version)
   select tx_id, client_id, wallet_id, account_id, asset_id, 'ethereum', case when is_out then 'OUTBOUND' else 'INBOUND' end,
     case when is_out then 'out' else 'in' end, is_out, is_out, case when is_out then address else 'x' || n end, case when is_out then 'y' || n else address end,
     'y' || n, 'ETH', 18, n, 'ETH', 18, case when is_out then 1 end, 'CONFIRMED', case when is_out then at end, 'old' || n,
     case when not is_out then '0' end, -n / 20, 'old' || n / 20, 2, at, at, at, 3 from old`,
  `insert into transaction_events (tx_id, seq, status, at)
   select tx_id, seq, case seq when 3 then 'CONFIRMED' else 'PENDING' end, at from old, generate_series(0, 3) seq where is_out or seq > 1`,
  `insert into transfer_attempts (tx_id, attempt, kind, chain, prepared, unsigned, signers, message_key, fee_bound, tx_hash, signed, signed_at, broadcast_at,
     block_number, block_hash, success, fee, included_id)
   select tx_id, 1, 'first', 'ethereum', '{}', '0x', '[]', 'old' || n, 1, 'old' || n, '0x', at, at, -n / 20, 'old' || n / 20, true, 1, 'old' || n from old where is_out`,
  `insert into attempt_ids (chain, id, tx_id, attempt) select 'ethereum', 'old' || n, tx_id, 1 from old where is_out`,
  `with reserved as (
     insert into reservations (chain, owner, resource, ordinal, tx_id) select 'ethereum', 'old', n, n, tx_id from old where is_out returning reservation_id, tx_id
   ) insert into attempt_reservations (tx_id, attempt, reservation_id) select tx_id, 1, reservation_id from reserved`,
  `insert into ledger_postings (posting_id, tx_id, kind, seq, entries)
   select tx_id, tx_id, case when is_out then 'settle' else 'deposit' end, 3, 2 from old`,
  `insert into ledger_entries (posting_id, line, ledger_account_id, bucket, chain, symbol, amount)
   select tx_id, line, case line when 0 then asset_id end, case line when 0 then 'AVAILABLE' else 'EXTERNAL' end, 'ethereum', 'ETH', case line when 0 then n else -n end
     from old, generate_series(0, 1) line`,
  `insert into list_totals (list, client_id, subject_id, chain, slot, total)
   select 'transactions', client_id, unnest(array[client_id, wallet_id, account_id]), 'ethereum', 0, count(*) from old group by client_id, wallet_id, account_id
   on conflict (list, subject_id, chain, slot) do update set total = list_totals.total + excluded.total`,
];

/** What the server has read for everybody so far, without what it has not reported yet. */
export async function readSoFar(database: DataSource): Promise<{ transactions: number; rows: number; blocks: number }> {
  await database.query('select pg_stat_clear_snapshot()');
  const [row] = await database.query<Record<'transactions' | 'rows' | 'blocks', string>[]>(
    `select xact_commit as transactions, tup_returned as rows, blks_hit + blks_read as blocks from pg_stat_database where datname = current_database()`,
  );
  return { transactions: Number(row?.transactions), rows: Number(row?.rows), blocks: Number(row?.blocks) };
}
