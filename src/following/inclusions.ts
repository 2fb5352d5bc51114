import type { EntityManager } from 'typeorm';
import { releaseReservations } from '../chains/reservations';
import type { InclusionEffect } from '../chains/types';

/** Which block holds an attempt, as it is stored with the attempt. */

/** An attempt of the transaction is included in the block that the transaction names. */
export const stillStands = 'exists (select 1 from transfer_attempts a where a.tx_id = t.tx_id and a.block_hash = t.block_hash)';
/** The follower has been at the height of the block ($number, $hash) and has found another one there, or none at all. */
const contradicts = (chain: string, number: string, hash: string): string => `(
  exists (select 1 from chain_blocks b where b.chain = ${chain} and b.number <= ${number})
  and exists (select 1 from chain_cursors c where c.chain = ${chain} and c.next_block > ${number})
  and not exists (select 1 from chain_blocks b where b.chain = ${chain} and b.number = ${number} and b.hash = ${hash}))`;
/** The same of the block that holds an attempt `a`. */
export const isContradicted = contradicts('a.chain', 'a.block_number', 'a.block_hash');

/** What an endpoint has shown to have moved stays where another one shows less of the same block: what has not moved is unlocked. */
const shown = (column: string, value: string): string =>
  `greatest(${value}::numeric, case when a.block_hash = $4 then a.${column} end)`;

/**
 * What is stored then; null, and nothing is, where the follower has scanned another block at that height. An id not seen before is kept.
 * `agreedBy`: how many endpoints have shown it, if every configured one has.
 * Call it in a database transaction: the follower's cursor stays where it is until the end, so that what is stored here is either
 * compared with the blocks that the follower has stored or seen by the follower when it comes to that height.
 */
export async function storeInclusion(
  manager: EntityManager,
  { txId, attempt, id }: { txId: string; attempt: number; id: string },
  effect: InclusionEffect,
  agreedBy: number | null = null,
): Promise<InclusionEffect | null> {
  // a statement of its own: the next one then sees what the follower has committed meanwhile
  await manager.query(
    'select from chain_cursors where chain = (select chain from transfer_attempts where tx_id = $1 and attempt = $2) for share',
    [txId, attempt],
  );
  const [row] = await manager.query<{ debited: string | null; received: string | null }[]>(
    `with stored as (
       update transfer_attempts a
          set block_number = $3, block_hash = $4, success = $5, fee = $6, debited = ${shown('debited', '$7')}, received = ${shown('received', '$8')}, included_id = $9,
              agreed_by = coalesce($10::integer, case when (a.included_id, a.block_hash, a.success, a.fee) = ($9, $4, $5, $6) then a.agreed_by end)
        where a.tx_id = $1 and a.attempt = $2 and not ${contradicts('a.chain', '$3::bigint', '$4')}
       returning a.chain, a.tx_id, a.attempt, a.debited, a.received
     ), named as (
       insert into attempt_ids (chain, id, tx_id, attempt) select chain, $9, tx_id, attempt from stored
       on conflict do nothing
     )
     select debited, received from stored`,
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
      agreedBy,
    ],
  );
  return row ? { ...effect, debited: toAmount(row.debited), received: toAmount(row.received) } : null;
}

const toAmount = (text: string | null): bigint | null => (text === null ? null : BigInt(text));

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
  return clear(manager, `a.chain = $1 and a.block_number between $2 and $3 and ${isContradicted}`, [chain, from, to]);
}

async function clear(manager: EntityManager, condition: string, parameters: unknown[]): Promise<LostInclusion[]> {
  const [rows] = await manager.query<[{ tx_id: string; included_id: string }[], number]>(
    `update transfer_attempts n
        set block_number = null, block_hash = null, included_id = null, success = null, fee = null, debited = null, received = null, agreed_by = null
       from (select a.tx_id, a.attempt, a.included_id from transfer_attempts a where ${condition}) lost
      where n.tx_id = lost.tx_id and n.attempt = lost.attempt
      returning lost.tx_id, lost.included_id`,
    parameters,
  );
  return rows.map(({ tx_id: txId, included_id: id }) => ({ txId, id }));
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
