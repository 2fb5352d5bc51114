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

/**
 * Writes postings with their entries in one statement. The database changes the balances with them and refuses postings that do not
 * balance, make a balance negative or were made before. Lock the ledger accounts first (findLedgerAccountsForUpdate).
 */
export async function post(manager: EntityManager, postings: Posting[]): Promise<void> {
  if (postings.length === 0) return;
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
  await manager.query(
    `with heads as (
       insert into ledger_postings (posting_id, tx_id, kind, seq, entries)
       select * from jsonb_to_recordset($1::jsonb) as h (posting_id uuid, tx_id uuid, kind text, seq integer, entries smallint)
     )
     insert into ledger_entries (posting_id, line, ledger_account_id, bucket, chain, symbol, amount)
     select * from jsonb_to_recordset($2::jsonb) as l (posting_id uuid, line smallint, ledger_account_id uuid, bucket text,
       chain text, symbol text, amount numeric)`,
    [JSON.stringify(heads), JSON.stringify(lines)],
  );
}
