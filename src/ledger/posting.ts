import { type EntityManager, QueryFailedError } from 'typeorm';
import { newId } from '../platform/ids';

/** AVAILABLE and LOCKED belong to a ledger account of a client, the others to the house: see the schema. */
export type Bucket = 'AVAILABLE' | 'LOCKED' | 'EXTERNAL' | 'FEES' | 'LOSS';
export type PostingKind =
  'lock' | 'lock_more' | 'unlock' | 'settle' | 'refund' | 'deposit' | 'deposit_reversal' | 'adjustment' | 'gas';

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
  await manager.query(
    `with heads as (
       insert into ledger_postings (posting_id, tx_id, kind, seq, entries)
       select * from jsonb_to_recordset($1::jsonb) as h (posting_id uuid, tx_id uuid, kind text, seq integer, entries smallint)
     )
     insert into ledger_entries (posting_id, line, ledger_account_id, bucket, chain, symbol, amount)
     select * from jsonb_to_recordset($2::jsonb) as l (posting_id uuid, line smallint, ledger_account_id uuid, bucket text,
       chain text, symbol text, amount numeric)`,
    toRows(postings),
  );
}

/**
 * Writes a lock whose entries the database writes within COMMIT (migrations/0007), so that other transfers of the account wait for its
 * rows as briefly as possible. The COMMIT fails if an account is frozen or does not have what is taken: see readUncovered.
 */
export async function postAtCommit(
  manager: EntityManager,
  { txId, kind, seq, entries }: Posting & { kind: 'lock' },
): Promise<void> {
  await manager.query(
    'insert into ledger_postings (posting_id, tx_id, kind, seq, entries, at_commit) values ($1, $2, $3, $4, $5, $6)',
    [newId(), txId, kind, seq, entries.length, JSON.stringify(entries.map(toLine))],
  );
}

/** A ledger account and what a lock takes of it. */
export interface HeldBalance {
  symbol: string;
  /** Atomic units, at the time of the lock. */
  available: bigint;
  /** Atomic units. */
  taken: bigint;
  isFrozen: boolean;
}

const uncoveredState = 'GW001';

/** The accounts of a lock whose COMMIT was refused because they do not cover it; null for any other error. */
export function readUncovered(error: unknown): HeldBalance[] | null {
  const { code, detail } = (error instanceof QueryFailedError ? error.driverError : {}) as { code?: string; detail?: string };
  if (code !== uncoveredState || !detail) return null;
  const rows = JSON.parse(detail) as { symbol: string; available: string; taken: string; frozen: boolean }[];
  return rows.map(({ symbol, available, taken, frozen }) => ({
    symbol,
    available: BigInt(available),
    taken: BigInt(taken),
    isFrozen: frozen,
  }));
}

const toLine = ({ ledgerAccountId, bucket, chain, symbol, amount }: Entry, line: number): object => ({
  line,
  ledger_account_id: ledgerAccountId,
  bucket,
  chain,
  symbol,
  amount: amount.toString(),
});

/** Both parameters of `post`, as JSON. */
function toRows(postings: Posting[]): [heads: string, lines: string] {
  const heads: object[] = [];
  const lines: object[] = [];
  for (const { txId, kind, seq, entries } of postings) {
    const postingId = newId();
    heads.push({ posting_id: postingId, tx_id: txId, kind, seq, entries: entries.length });
    entries.forEach((entry, line) => lines.push({ posting_id: postingId, ...toLine(entry, line) }));
  }
  return [JSON.stringify(heads), JSON.stringify(lines)];
}
