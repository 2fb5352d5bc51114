import type { EntityManager } from 'typeorm';
import type { AttemptKind, Hex } from '../chains/types';

/** One unsigned or signed transaction of a transfer. */
export interface Attempt {
  attempt: number;
  kind: AttemptKind;
  unsigned: Hex;
  /** null until signed. */
  hash: Hex | null;
}

interface AttemptRow {
  attempt: number;
  kind: AttemptKind;
  unsigned: Hex;
  tx_hash: Hex | null;
}

export async function findAttempt(manager: EntityManager, txId: string, attempt: number): Promise<Attempt | null> {
  const [row] = await manager.query<AttemptRow[]>(
    'select attempt, kind, unsigned, tx_hash from transfer_attempts where tx_id = $1 and attempt = $2',
    [txId, attempt],
  );
  return row ? { attempt: row.attempt, kind: row.kind, unsigned: row.unsigned, hash: row.tx_hash } : null;
}

/** @throws Error for an attempt that was never begun: a bug in the caller. */
export async function getAttempt(manager: EntityManager, txId: string, attempt: number): Promise<Attempt> {
  const found = await findAttempt(manager, txId, attempt);
  if (!found) throw new Error(`transfer ${txId} has no attempt ${attempt}`);
  return found;
}

export async function lastAttempt(manager: EntityManager, txId: string): Promise<number> {
  const [row] = await manager.query<{ last: number | null }[]>(
    'select max(attempt) as last from transfer_attempts where tx_id = $1',
    [txId],
  );
  return row?.last ?? 0;
}

/** Released by an operator: from its first cancellation on, nothing else is signed for the transfer. */
export async function isAbandoned(manager: EntityManager, txId: string): Promise<boolean> {
  const rows = await manager.query<unknown[]>(`select 1 from transfer_attempts where tx_id = $1 and kind = 'cancellation'`, [
    txId,
  ]);
  return rows.length > 0;
}

/** True when an attempt of the transfer consists of these very bytes. */
export async function isKnown(manager: EntityManager, txId: string, unsigned: Hex): Promise<boolean> {
  const rows = await manager.query<unknown[]>('select 1 from transfer_attempts where tx_id = $1 and unsigned = $2', [
    txId,
    unsigned,
  ]);
  return rows.length > 0;
}

export interface NewAttempt {
  txId: string;
  attempt: number;
  kind: AttemptKind;
  chain: string;
  fromKey: string;
  nonce: number;
  unsigned: Hex;
  /** Atomic units of the native coin. */
  feeBound: bigint;
}

export async function insertAttempt(manager: EntityManager, it: NewAttempt): Promise<void> {
  await manager.query(
    `insert into transfer_attempts (tx_id, attempt, kind, chain, from_key, nonce, unsigned, fee_bound)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [it.txId, it.attempt, it.kind, it.chain, it.fromKey, it.nonce, it.unsigned, it.feeBound.toString()],
  );
}

/** What the chain did with the attempt that was included. */
export interface Inclusion {
  kind: AttemptKind;
  hash: Hex;
  blockNumber: bigint;
  blockHash: string;
  success: boolean;
  /** Atomic units of the native coin. */
  fee: bigint;
  /** Atomic units of the token that left and arrived; null when no movement was observed. */
  debited: bigint | null;
  received: bigint | null;
  /** Blocks scanned from the inclusion on, its own included; not positive where the follower has not come so far. */
  depth: bigint;
}

interface InclusionRow {
  kind: AttemptKind;
  tx_hash: Hex;
  block_number: string;
  block_hash: string;
  success: boolean;
  fee: string;
  debited: string | null;
  received: string | null;
  depth: string;
}

/** All attempts share one nonce, so the chain includes one of them at most. */
export async function findInclusion(manager: EntityManager, txId: string): Promise<Inclusion | null> {
  const rows = await manager.query<InclusionRow[]>(
    // one statement, one snapshot: a roll-back moves the cursor and clears inclusions together
    `select a.kind, a.tx_hash, a.block_number, a.block_hash, a.success, a.fee, a.debited, a.received,
            coalesce(c.next_block - a.block_number, 0) as depth
       from transfer_attempts a left join chain_cursors c on c.chain = a.chain
      where a.tx_id = $1 and a.block_number is not null`,
    [txId],
  );
  const [row, second] = rows;
  if (second) throw new Error(`two attempts of transfer ${txId} are marked as included: ${row?.tx_hash}, ${second.tx_hash}`);
  if (!row) return null;
  const amount = (text: string | null) => (text === null ? null : BigInt(text));
  return {
    kind: row.kind,
    hash: row.tx_hash,
    blockNumber: BigInt(row.block_number),
    blockHash: row.block_hash,
    success: row.success,
    fee: BigInt(row.fee),
    debited: amount(row.debited),
    received: amount(row.received),
    depth: BigInt(row.depth),
  };
}
