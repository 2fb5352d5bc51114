import type { EntityManager } from 'typeorm';
import type { BlockTransaction } from '../chains/family';
import { releaseReservations } from '../chains/reservations';
import type { AttemptKind, InclusionEffect } from '../chains/types';
import type { IntendedTransaction } from '../transactions/intent';
import type { TransactionType } from '../transactions/types';

/** What the follower reads and writes of attempts: which of them a block holds, and which block holds them. */

/** An attempt of the transaction is included in the block that the transaction names. */
export const stillStands = 'exists (select 1 from transfer_attempts a where a.tx_id = t.tx_id and a.block_hash = t.block_hash)';
/** The follower has been at the height of the block ($number, $hash) and has found another one there, or none at all. */
export const contradicts = (chain: string, number: string, hash: string): string => `(
  exists (select 1 from chain_blocks b where b.chain = ${chain} and b.number <= ${number})
  and exists (select 1 from chain_cursors c where c.chain = ${chain} and c.next_block > ${number})
  and not exists (select 1 from chain_blocks b where b.chain = ${chain} and b.number = ${number} and b.hash = ${hash}))`;

/** Statement parameters at once: Postgres takes 65,535, and smaller arrays plan better. */
const chunkSize = 5_000;

const toChunks = <T>(items: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(items.length / chunkSize) }, (_, index) =>
    items.slice(index * chunkSize, (index + 1) * chunkSize),
  );

/** An attempt that a block holds, under the id `id`. */
export interface FoundAttempt {
  txId: string;
  attempt: number;
  id: string;
  kind: AttemptKind;
  transaction: IntendedTransaction;
}

interface FoundRow {
  tx_id: string;
  attempt: number;
  id: string;
  kind: AttemptKind;
  transaction_type: TransactionType;
  from_address: string;
  sender_address: string | null;
  to_address: string;
  contract_address: string | null;
  amount: string;
}

/**
 * The attempts among these transactions, of which one may carry out several: by an id on record, and by their message, since a
 * signature session whose result never reached us gives an id that is not.
 */
export async function findAttemptsAmong(
  manager: EntityManager,
  chain: string,
  transactions: BlockTransaction[],
): Promise<FoundAttempt[]> {
  const byId = await queryFound(
    manager,
    `select f.id, i.tx_id, i.attempt from unnest($2::text[]) as f (id) join attempt_ids i on i.chain = $1 and i.id = f.id`,
    chain,
    toChunks(transactions).map((chunk) => [chunk.map(({ id }) => id)]),
  );
  const signedByUs = transactions.filter(({ messageKey }) => messageKey !== null);
  const byMessage = await queryFound(
    manager,
    `select f.id, i.tx_id, i.attempt from unnest($2::text[], $3::text[]) as f (id, message_key)
       join transfer_attempts i on i.chain = $1 and i.message_key = f.message_key`,
    chain,
    toChunks(signedByUs).map((chunk) => [chunk.map(({ id }) => id), chunk.map(({ messageKey }) => messageKey)]),
  );
  const found = [...byId, ...byMessage].map((attempt) => [`${attempt.id} ${attempt.txId} ${attempt.attempt}`, attempt] as const);
  return [...new Map(found).values()];
}

async function queryFound(manager: EntityManager, matches: string, chain: string, chunks: unknown[][]): Promise<FoundAttempt[]> {
  const pages = await Promise.all(
    chunks.map((parameters) =>
      manager.query<FoundRow[]>(
        `select m.id, a.tx_id, a.attempt, a.kind, t.transaction_type, t.from_address, t.sender_address, t.to_address, t.contract_address, t.amount
           from (${matches}) m join transfer_attempts a using (tx_id, attempt) join transactions t using (tx_id)`,
        [chain, ...parameters],
      ),
    ),
  );
  return pages.flat().map((row) => ({
    txId: row.tx_id,
    attempt: row.attempt,
    id: row.id,
    kind: row.kind,
    transaction: {
      txId: row.tx_id,
      transactionType: row.transaction_type,
      fromAddress: row.from_address,
      senderAddress: row.sender_address,
      toAddress: row.to_address,
      contractAddress: row.contract_address,
      amount: BigInt(row.amount),
    },
  }));
}

/**
 * False, and nothing is stored, where the follower has scanned another block at that height. An id not seen before is kept.
 * Call it in a database transaction: the follower's cursor stays where it is until the end, so that what is stored here is either
 * compared with the blocks that the follower has stored or seen by the follower when it comes to that height.
 */
export async function storeInclusion(
  manager: EntityManager,
  { txId, attempt, id }: { txId: string; attempt: number; id: string },
  effect: InclusionEffect,
): Promise<boolean> {
  // a statement of its own: the next one then sees what the follower has committed meanwhile
  await manager.query(
    'select from chain_cursors where chain = (select chain from transfer_attempts where tx_id = $1 and attempt = $2) for share',
    [txId, attempt],
  );
  const [row] = await manager.query<{ stored: number }[]>(
    `with stored as (
       update transfer_attempts a
          set block_number = $3, block_hash = $4, success = $5, fee = $6, debited = $7, received = $8, included_id = $9
        where a.tx_id = $1 and a.attempt = $2 and not ${contradicts('a.chain', '$3::bigint', '$4')}
       returning a.chain, a.tx_id, a.attempt
     ), named as (
       insert into attempt_ids (chain, id, tx_id, attempt) select chain, $9, tx_id, attempt from stored
       on conflict do nothing
     )
     select count(*)::int as stored from stored`,
    [
      txId,
      attempt,
      effect.blockNumber,
      effect.blockHash,
      effect.success,
      effect.fee.toString(),
      effect.debited?.toString() ?? null,
      effect.received?.toString() ?? null,
      id,
    ],
  );
  return row?.stored === 1;
}

/** An inclusion that was taken back. */
export interface LostInclusion {
  txId: string;
  id: string;
}

/** Forgets inclusions in blocks from `from` on. */
export function clearInclusions(manager: EntityManager, chain: string, from: number): Promise<LostInclusion[]> {
  return clear(manager, 'a.chain = $1 and a.block_number >= $2', [chain, from]);
}

/**
 * Forgets inclusions that the scanned blocks contradict: `observe` may have read a block, from another node, that was
 * reorganised away before the follower came to its height, and no roll-back would ever reach it.
 */
export function clearContradicted(manager: EntityManager, chain: string, from: number, to: number): Promise<LostInclusion[]> {
  const isContradicted = contradicts('a.chain', 'a.block_number', 'a.block_hash');
  return clear(manager, `a.chain = $1 and a.block_number between $2 and $3 and ${isContradicted}`, [chain, from, to]);
}

async function clear(manager: EntityManager, condition: string, parameters: unknown[]): Promise<LostInclusion[]> {
  const [rows] = await manager.query<[{ tx_id: string; included_id: string }[], number]>(
    `update transfer_attempts n
        set block_number = null, block_hash = null, included_id = null, success = null, fee = null, debited = null, received = null
       from (select a.tx_id, a.attempt, a.included_id from transfer_attempts a where ${condition}) lost
      where n.tx_id = lost.tx_id and n.attempt = lost.attempt
      returning lost.tx_id, lost.included_id`,
    parameters,
  );
  return rows.map(({ tx_id: txId, included_id: id }) => ({ txId, id }));
}

/** A transfer that still waits, although an attempt of it is included in a block that was scanned. */
export interface IncludedTransfer {
  txId: string;
  hash: string;
  blockNumber: number;
  kind: AttemptKind;
  success: boolean;
  requiredConfirmations: number;
}

interface IncludedRow {
  tx_id: string;
  included_id: string;
  block_number: string;
  kind: AttemptKind;
  success: boolean;
  required_confirmations: number;
}

export async function includedOpenTransfers(
  manager: EntityManager,
  chain: string,
  scannedTo: number,
): Promise<IncludedTransfer[]> {
  const rows = await manager.query<IncludedRow[]>(
    `select t.tx_id, a.included_id, a.block_number, a.kind, a.success, t.required_confirmations
       from transactions t join transfer_attempts a on a.tx_id = t.tx_id and a.block_number <= $2
        and not ${contradicts('a.chain', 'a.block_number', 'a.block_hash')}
      where t.chain = $1 and t.ended_at is null and t.status in ('SIGNING', 'SUBMITTED', 'NEEDS_ATTENTION')
      order by a.block_number limit 10000`,
    [chain, scannedTo],
  );
  return rows.map((row) => ({
    txId: row.tx_id,
    hash: row.included_id,
    blockNumber: Number(row.block_number),
    kind: row.kind,
    success: row.success,
    requiredConfirmations: row.required_confirmations,
  }));
}

/** Marks what can no longer be reorganised away, and gives back what it had reserved and has not used. */
export async function finalize(manager: EntityManager, chain: string, upToBlock: number): Promise<void> {
  const [rows] = await manager.query<[{ tx_id: string }[], number]>(
    `update transactions t set finalized_at = now()
      where t.chain = $1 and t.block_number <= $2 and t.finalized_at is null and t.status in ('CONFIRMED', 'FAILED')
        and (t.direction = 'in' or ${stillStands})
      returning t.tx_id`,
    [chain, upToBlock],
  );
  if (rows.length > 0)
    await releaseReservations(
      manager,
      rows.map(({ tx_id }) => tx_id),
    );
}
