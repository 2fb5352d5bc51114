import type { DataSource } from 'typeorm';
import { localBitcoin } from '../../bitcoin';
import { registry } from '../ledger/fixture';

/** Rows like those of production, inserted without triggers, for plans.test.ts. */

export const million = 1_000_000;
/** Blocks of the followed chain; the rows are spread over them. */
export const head = 250_000;
export const finality = 64;
/** The address of one account as its chain writes it. */
export const realAddress = `0x${'a'.repeat(40)}`;
/** As many messages as may wait for their start by default; most are of one client. */
export const waitingStarts = 10_000;

export const ethereum = { ...registry.get('ethereum'), finalityDepth: finality };
export const bitcoin = localBitcoin();

/** How many rows each has at least. */
export const big: Readonly<Record<string, number>> = {
  transactions: million,
  transaction_events: million,
  transfer_attempts: million,
  attempt_ids: million,
  attempt_outputs: million,
  accounts: million,
  reservations: million,
  attempt_reservations: million,
  chain_outputs: million,
  output_origins: million,
  foreign_transactions: million,
  ledger_accounts: million,
  ledger_postings: million,
  ledger_entries: million,
  redo_requests: 100_000,
  x402_settlements: 20_000,
  x402_authorisations: 20_000,
  consolidations: 20_000,
  security_factors: 20_000,
  // as many as may wait, and other messages
  workflow_outbox: waitingStarts + 9_000,
};

const kinds = { account: 1, wallet: 2, client: 3, transaction: 4, asset: 5, posting: 6, gas: 7, bitcoin: 8, subject: 9 } as const;
type Kind = keyof typeof kinds;

/** SQL of an id. Like those of production they increase with their rows, so that indexes are filled at their ends. */
const id = (kind: Kind, n: string): string => `('0000000${kinds[kind]}-0000-7000-8000-' || lpad(to_hex(${n}), 12, '0'))::uuid`;
export const idOf = (kind: Kind, n: number): string => `0000000${kinds[kind]}-0000-7000-8000-${n.toString(16).padStart(12, '0')}`;

/** Drops indexes before the rows are inserted and builds them afterwards, which is much faster. */
export async function insertRows(database: DataSource): Promise<void> {
  await database.transaction(async (manager) => {
    await manager.query(`set local session_replication_role = 'replica'; set local maintenance_work_mem = '256MB'`);
    const indexes = await manager.query<{ name: string; definition: string }[]>(
      `select i.relname as name, pg_get_indexdef(i.oid) as definition from pg_index x join pg_class i on i.oid = x.indexrelid
        where x.indrelid = any($1::text[]::regclass[]) and not exists (select from pg_constraint c where c.conindid = i.oid)`,
      [Object.keys(big)],
    );
    for (const { name } of indexes) await manager.query(`drop index ${name}`);
    for (const statement of rows) await manager.query(statement);
    for (const { definition } of indexes) await manager.query(definition);
    // a deposit without its direction is refused
    await manager.query('alter table transactions enable always trigger transactions_classify');
  });
  await database.query('analyze');
}

/** Ended for long, or among the newest 200. */
const isOpen = `n > ${million} - 200`;
/** Of those that are open, one that signs. */
export const signingAt = million - 104;

/**
 * A million accounts, outputs and transactions: two of three are transfers with an attempt, of which every other one has replaced another, and
 * the others deposits. What is open is near the head.
 */
const rows = [
  `insert into clients (client_id, name) select ${id('client', 'n')}, 'c' || n from generate_series(0, 5000) n`,
  `insert into wallets (wallet_id, client_id, wallet_name, status, key_status, key_id, public_key, chain_code)
   select ${id('wallet', 'n')}, ${id('client', 'n / 20')}, 'w', 'ACTIVE', 'ACTIVE', 'k' || n, decode(lpad(to_hex(n), 66, '0'), 'hex'), decode(lpad(to_hex(n), 64, '0'), 'hex')
     from generate_series(0, ${million / 10}) n`,
  `insert into chain_cursors (chain, caip2, next_block, head_block, fee_levels, agreed_to)
   values ('ethereum', 'eip155:1', ${head + 1}, ${head}, '{}', ${head - 2}), ('bitcoin', '${bitcoin.caip2}', ${head + 1}, ${head}, '{}', null)`,
  `insert into chain_blocks (chain, number, hash, parent_hash)
   select chain, n, 'b' || n, 'b' || n - 1 from unnest(array['ethereum', 'bitcoin']) chain, generate_series(${head - 256}, ${head}) n`,
  `insert into accounts (account_id, wallet_id, client_id, family, chain, network, address, address_key, key_id, key_protocol, derivation_path, address_index)
   select ${id('account', 'n')}, ${id('wallet', 'n / 10')}, ${id('client', 'n / 200')}, 'evm', 'ethereum', 'local', 'A' || n,
     case n when 1 then '${realAddress}' else 'a' || n end, 'k', 'ecdsa-secp256k1', 'm/60/0', n from generate_series(1, ${million}) n
   union all
   select ${id('bitcoin', 'n')}, ${id('wallet', 'n / 10')}, ${id('client', 'n / 200')}, '${bitcoin.family}', 'bitcoin', 'local', 'B' || n,
     'a' || n, 'k', 'ecdsa-secp256k1', 'm/84/0', ${million} + n from generate_series(0, 19999) n`,
  `insert into ledger_accounts (ledger_account_id, account_id, wallet_id, client_id, chain, symbol, decimals, available, locked)
   select ${id('asset', 'n')}, ${id('account', 'n')}, ${id('wallet', 'n / 10')}, ${id('client', 'n / 200')}, 'ethereum', 'ETH', 18, n % 2, 0
     from generate_series(0, ${million}) n
   union all
   select ${id('bitcoin', 'n')}, ${id('bitcoin', 'n')}, ${id('wallet', 'n / 10')}, ${id('client', 'n / 200')}, 'bitcoin', '${bitcoin.native.symbol}', 8, 1, 0
     from generate_series(0, 19999) n`,
  `insert into transactions (tx_id, client_id, wallet_id, account_id, asset_id, chain, transaction_type, direction, is_held, is_signed, from_address, to_address, to_address_key, token_symbol, decimals,
     amount, fee_symbol, fee_decimals, fee, status, signing_begun_at, tx_hash, position, block_number, block_hash, required_confirmations, idempotency_key, ended_at, created_at, finalized_at)
   select ${id('transaction', 'n')}, ${id('client', '(n % 20000) / 200')}, ${id('wallet', '(n % 20000) / 10')}, ${id('account', 'n % 20000')}, ${id('asset', 'n % 20000')},
     'ethereum', case when is_out then 'OUTBOUND' else 'INBOUND' end, case when is_out then 'out' else 'in' end, is_out, is_out, 'x', 'y', 'y', 'ETH', 18, 1, 'ETH', 18, case when is_out then 1 end,
     case when ${isOpen} then case when not is_out then 'DETECTED' when n % 10 = 0 then 'NEEDS_ATTENTION' when n = ${signingAt} then 'SIGNING' else 'SUBMITTED' end
          when n % 3000 = 3 then 'ORPHANED' when n % 3000 = 1 then 'FAILED' else 'CONFIRMED' end,
     case when is_out then now() end, 'h' || n, case when not is_out then '0' end,
     case when is_out and ${isOpen} then null else n / 4 end, case when is_out and ${isOpen} then null else 'b' || n / 4 end, 1,
     case when is_out then 'k' || n end, case when not (${isOpen}) then now() end, now() - n * interval '1 second',
     case when n / 4 < ${head - finality} then now() end
     from generate_series(1, ${million}) n, lateral (select n % 3 > 0 as is_out) o`,
  // deposits of outputs, settlements that are in a block, and what they have cost
  `insert into transactions (tx_id, parent_tx_id, client_id, wallet_id, account_id, asset_id, chain, transaction_type, direction, is_held, is_signed, from_address, sender_address, to_address, token_symbol,
     decimals, amount, fee_symbol, fee_decimals, fee, status, signing_begun_at, tx_hash, position, block_number, block_hash, required_confirmations, ended_at, finalized_at)
   select ${id('bitcoin', 'n')}, null::uuid, ${id('client', 'n / 200')}, ${id('wallet', 'n / 10')}, ${id('bitcoin', 'n')}, ${id('bitcoin', 'n')}, 'bitcoin', 'INBOUND', 'in', false, false, 'x', null, 'y',
     '${bitcoin.native.symbol}', 8, 1, null, null, null::numeric, 'CONFIRMED', null::timestamptz, 'h' || n, '0', n, 'b' || n, 1, now(), now() from generate_series(0, 19999) n
   union all
   select ${id('subject', 'n')}, null, ${id('client', 'n % 100')}, null, null, null, 'ethereum', 'X402_SETTLE', 'out', false, true, 'p' || n, 'S' || n % 20, 'y',
     'USDC', 6, 1, 'ETH', 18, 1, 'CONFIRMED', now(), 'u' || n, null, n, 'b' || n, 1, now(), now() from generate_series(1, 20000) n
   union all
   select ${id('gas', 'n')}, ${id('subject', 'n')}, ${id('client', '0')}, ${id('wallet', '0')}, ${id('account', '1')}, ${id('asset', '1')}, 'ethereum', 'GAS', 'out', false, false, 'S' || n % 20, null, 'y',
     'ETH', 18, 1, null, null, null, 'CONFIRMED', null, 'u' || n, null, n, 'b' || n, 1, now(), now() from generate_series(1, 20000) n`,
  `insert into transaction_events (tx_id, seq, status) select ${id('transaction', 'n')}, 0, 'CONFIRMED' from generate_series(1, ${million}) n`,
  `insert into transfer_attempts (tx_id, attempt, kind, chain, prepared, unsigned, signers, message_key, fee_bound, tx_hash, signed, signed_at, block_number, block_hash, success, fee, included_id, impossible_proof)
   select ${id('transaction', 'n')}, 1, 'first', 'ethereum', '{}'::jsonb, '0x', '[]'::jsonb, 'm' || n, 1, 'h' || n, '0x', now(), n / 4, 'b' || n / 4, true, 1, 'h' || n, case when n % 50000 = 1 then '{}'::jsonb end
     from generate_series(1, ${million}) n where n % 3 > 0
   union all
   select ${id('transaction', 'n')}, 2, 'replacement', 'ethereum', '{}'::jsonb, '0x', '[]'::jsonb, 'r' || n, 1, 'g' || n, '0x', now(), null, null, null, null, null, null
     from generate_series(1, ${million}) n where n % 3 = 1`,
  `insert into attempt_ids (chain, id, tx_id, attempt) select chain, tx_hash, tx_id, attempt from transfer_attempts`,
  `insert into attempt_outputs (chain, resource, owner, amount, tx_id, attempt)
   select 'bitcoin', 'c' || n, 'a' || n % 20000, 1, ${id('transaction', 'n')}, 1 from generate_series(1, ${million}) n`,
  // nonces, and inputs of transfers that have ended
  `insert into reservations (chain, owner, resource, ordinal, tx_id, released_at)
   select 'ethereum', 'a' || n % 20000, (n / 20000)::text, n / 20000, ${id('transaction', 'n')}, null::timestamptz from generate_series(1, ${million}) n where n % 3 > 0
   union all
   select 'bitcoin', 'a' || n % 20000, 'r' || n, null, ${id('transaction', 'n')}, now() from generate_series(1, ${million}) n where n % 3 = 1`,
  `insert into attempt_reservations select tx_id, 1, reservation_id from reservations`,
  `insert into foreign_transactions (chain, owner, ordinal, id, block_number)
   select 'ethereum', case when n % 3 = 0 then 'a' else 'f' end || n % 20000, n / 20000, 'h' || n, n / 4 from generate_series(1, ${million}) n`,
  `insert into chain_outputs (chain, resource, owner, amount, block_number, spendable_from, made_by, spent_by, spent_block)
   select 'bitcoin', 'o' || n, 'a' || n % 20000, 1, n / 4, n / 4, 'h' || n, case when n % 10 > 0 then 's' || n end, case when n % 10 > 0 then n / 4 end
     from generate_series(1, ${million}) n`,
  `insert into ledger_postings (posting_id, tx_id, kind, seq, entries)
   select ${id('posting', 'n')}, ${id('transaction', 'n')}, case when n % 3 > 0 then 'settle' else 'deposit' end, 0, 2
     from generate_series(1, ${million}) n where n % 3 > 0 or not (${isOpen})
   union all select ${id('gas', 'n')}, ${id('gas', 'n')}, 'gas', 0, 2 from generate_series(1, 20000) n`,
  // what was not credited yet has none; of the newest transfers what has left the gateway
  `insert into ledger_entries (posting_id, line, ledger_account_id, bucket, chain, symbol, amount)
   select ${id('posting', 'n')}, 0, case when bucket = 'AVAILABLE' then ${id('asset', 'n % 20000')} end, bucket, 'ethereum', 'ETH', case bucket when 'EXTERNAL' then 1 else -1 end
     from generate_series(1, ${million}) n, lateral (
       select case when n % 1000 = 3 then 'LOSS' when n % 3 > 0 and n > ${million} - 1000 then 'EXTERNAL' else 'AVAILABLE' end as bucket) b
     where n % 3 > 0 or not (${isOpen})
   union all select ${id('gas', 'n')}, 0, null, 'FEES', 'ethereum', 'ETH', 1 from generate_series(1, 20000) n`,
  `insert into redo_requests (tx_id, operator, ended_at, failure_code, failure_message)
   select ${id('transaction', 'n')}, 'o', case when n > 10 then now() end, case when n > 10 then 'not_found' end, case when n > 10 then 'm' end
     from generate_series(1, ${million / 10}) n`,
  // those of final blocks are forgotten
  `insert into output_origins (chain, transaction, input, spent_by, spent_block)
   select 'bitcoin', 'h' || n, 'i' || n, 'h' || n, ${head} - ${finality} + 1 + n * ${finality} / ${million + 1} from generate_series(1, ${million}) n`,
  `insert into x402_settlements (tx_id, client_id, chain, scheme, payload_type, identity, request_hash, version, authorised, amount, valid_after, window_end, action, gas_bound)
   select ${id('subject', 'n')}, ${id('client', 'n % 100')}, 'ethereum', 'exact', 'eip3009', 'i' || n, decode(repeat('00', 32), 'hex'), 2, 1, 1, 0, 1, '{}', 1
     from generate_series(1, 20000) n`,
  `insert into x402_authorisations (tx_id, version, action, requirements) select ${id('subject', 'n')}, 2, '{}', '{}' from generate_series(1, 20000) n`,
  `insert into consolidations (tx_id, max_inputs, below) select ${id('subject', 'n')}, 2, 1 from generate_series(1, 20000) n`,
  `insert into security_factors (factor_id, client_id, factor_type, chain, address, address_key, added_by)
   select ${id('subject', 'n')}, ${id('client', 'n % 100')}, 'BLACKLIST', 'ethereum', 'z' || n, 'z' || n, ${id('subject', '0')} from generate_series(1, 20000) n`,
  // nearly all of one client; a few cannot start for a reason of their own
  `insert into workflow_outbox (kind, subject_id, client_id, chain, turn, deliver_after, is_postponed)
   select 'start_transfer', ${id('subject', 'n')}, ${id('client', 'case when n % 100 = 0 then n else 7 end')}, 'ethereum', n, now() - interval '1 hour', n % 1000 = 1
     from generate_series(1, ${waitingStarts}) n
   union all select kind, ${id('subject', 'n')}, ${id('client', '7')}, null, 0, now() - interval '1 hour', false
     from generate_series(1, 3000) n, unnest(array['transfer_ended', 'transfer_approved', 'start_key_generation']) kind`,
];
