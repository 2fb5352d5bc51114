import type { EntityManager } from 'typeorm';
import type { BlockScan } from './chain-client';

/**
 * Transactions in scanned blocks that an address of the gateway has signed and that are none of its attempts, by the position (nonce) that
 * they have used up. What is concluded from one is verified at the chain.
 */

/** No reservation has such an ordinal; a node could show one. */
const tooLarge = 2n ** 63n;

/** Call it in the follower's database transaction. */
export async function storeForeignTransactions(manager: EntityManager, chain: string, blocks: BlockScan[]): Promise<void> {
  const found = blocks
    .flatMap(({ number, transactions }) =>
      transactions.flatMap(({ id, messageKey, position }) => (position ? [{ id, messageKey, number, ...position }] : [])),
    )
    .filter(({ ordinal }) => ordinal < tooLarge);
  if (found.length === 0) return;
  await manager.query(
    `insert into foreign_transactions (chain, owner, ordinal, id, block_number)
     select distinct on (f.owner, f.ordinal) $1, f.owner, f.ordinal, f.id, f.block_number
       from unnest($2::text[], $3::bigint[], $4::text[], $5::bigint[], $6::text[]) f (owner, ordinal, id, block_number, message_key)
      where not exists (select from transfer_attempts a where a.chain = $1 and a.message_key = f.message_key)
     on conflict (chain, owner, ordinal) do update set id = excluded.id, block_number = excluded.block_number`,
    [
      chain,
      found.map(({ owner }) => owner),
      found.map(({ ordinal }) => ordinal.toString()),
      found.map(({ id }) => id),
      found.map(({ number }) => number),
      found.map(({ messageKey }) => messageKey),
    ],
  );
}

/** Forgets those in blocks from `from` on. Call it in the follower's database transaction. */
export async function takeBackForeignTransactions(manager: EntityManager, chain: string, from: number): Promise<void> {
  await manager.query('delete from foreign_transactions where chain = $1 and block_number >= $2', [chain, from]);
}
