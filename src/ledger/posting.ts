import type { EntityManager } from 'typeorm';
import { newId } from '../platform/ids';

/** AVAILABLE and LOCKED belong to a ledger account of a client, the others to the house: see the schema. */
export type Bucket = 'AVAILABLE' | 'LOCKED' | 'EXTERNAL' | 'FEES' | 'LOSS';
export type PostingKind = 'lock' | 'lock_more' | 'unlock' | 'settle' | 'refund' | 'deposit' | 'deposit_reversal' | 'adjustment';

export interface Entry {
  /** null for the buckets of the house. */
  ledgerAccountId: string | null;
  bucket: Bucket;
  chain: string;
  symbol: string;
  /** Atomic units; never zero. */
  amount: bigint;
}

export interface Posting {
  txId: string;
  kind: PostingKind;
  /** The version of the transaction after the change that this posting belongs to; for lock_more the number of the attempt. */
  seq: number;
  entries: Entry[];
}

const headColumns = 'posting_id uuid, tx_id uuid, kind text, seq integer, entries smallint';
const lineColumns =
  'posting_id uuid, line smallint, ledger_account_id uuid, bucket text, chain text, symbol text, amount numeric';

/**
 * Writes postings with their entries in one statement. The database changes the balances with them and refuses postings that do not
 * balance, make a balance negative or were made before. Lock the ledger accounts first (findLedgerAccountsForUpdate).
 */
export async function post(manager: EntityManager, postings: Posting[]): Promise<void> {
  if (postings.length === 0) return;
  await manager.query(
    `with heads as (
       insert into ledger_postings (posting_id, tx_id, kind, seq, entries) select * from jsonb_to_recordset($1::jsonb) as h (${headColumns})
     )
     insert into ledger_entries (posting_id, line, ledger_account_id, bucket, chain, symbol, amount)
     select * from jsonb_to_recordset($2::jsonb) as l (${lineColumns})`,
    toRows(postings),
  );
}

/** A ledger account as it was when its row was locked. */
export interface LockedAccount {
  ledgerAccountId: string;
  /** Atomic units, before the posting. */
  available: bigint;
  frozenReason: string | null;
}

/**
 * Locks the posting's ledger accounts, in id order until the end of the database transaction, and posts if none of them is frozen and
 * each has available what the posting takes from it; otherwise nothing is posted. One statement, since other transfers
 * of the account wait until these rows are free again.
 * @throws Error when a ledger account does not exist.
 */
export async function postIfCovered(
  manager: EntityManager,
  posting: Posting,
): Promise<{ posted: boolean; accounts: LockedAccount[] }> {
  const ids = [...new Set(posting.entries.flatMap(({ ledgerAccountId }) => ledgerAccountId ?? []))];
  const rows = await manager.query<
    { ledger_account_id: string; available: string; frozen_reason: string | null; covered: boolean }[]
  >(
    `with lines as materialized (
       select * from jsonb_to_recordset($2::jsonb) as l (${lineColumns})
     ), locked as materialized (
       select a.ledger_account_id, a.available, a.frozen_reason from ledger_accounts a
        where a.ledger_account_id = any($3::uuid[])
        order by a.ledger_account_id for no key update
     ), taken as (
       select ledger_account_id, -sum(amount) as amount from lines where bucket = 'AVAILABLE' group by ledger_account_id
     ), verdict as materialized (
       select count(*) = cardinality($3::uuid[])
              and bool_and(k.frozen_reason is null and k.available >= coalesce(t.amount, 0)) as covered
         from locked k left join taken t using (ledger_account_id)
     ), heads as (
       insert into ledger_postings (posting_id, tx_id, kind, seq, entries)
       select h.* from jsonb_to_recordset($1::jsonb) as h (${headColumns}), verdict where covered
     ), entries as (
       insert into ledger_entries (posting_id, line, ledger_account_id, bucket, chain, symbol, amount)
       select l.* from lines l, verdict where covered
     )
     select k.*, v.covered from locked k, verdict v`,
    [...toRows([posting]), ids],
  );
  if (rows.length !== ids.length) throw new Error(`only ${rows.length} of the ledger accounts ${ids.join(', ')} exist`);
  const accounts = rows.map((row) => ({
    ledgerAccountId: row.ledger_account_id,
    available: BigInt(row.available),
    frozenReason: row.frozen_reason,
  }));
  return { posted: rows.every(({ covered }) => covered), accounts };
}

/** Both parameters of the statements above, as JSON. */
function toRows(postings: Posting[]): [heads: string, lines: string] {
  const heads: object[] = [];
  const lines: object[] = [];
  for (const { txId, kind, seq, entries } of postings) {
    const postingId = newId();
    heads.push({ posting_id: postingId, tx_id: txId, kind, seq, entries: entries.length });
    entries.forEach((entry, line) =>
      lines.push({
        posting_id: postingId,
        line,
        ledger_account_id: entry.ledgerAccountId,
        bucket: entry.bucket,
        chain: entry.chain,
        symbol: entry.symbol,
        amount: entry.amount.toString(),
      }),
    );
  }
  return [JSON.stringify(heads), JSON.stringify(lines)];
}
