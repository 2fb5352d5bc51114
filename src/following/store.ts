import type { EntityManager } from 'typeorm';
import type { BlockRange, BlockScan } from '../chains/chain-client';
import type { ChainDefinition, FeeLevels } from '../chains/types';

/** The follower's cursor and the blocks it has scanned. Block numbers are plain numbers: no chain gets near 2^53. */

export interface StoredBlock {
  number: number;
  hash: string;
}

export interface Cursor {
  /** The next block to scan. */
  nextBlock: number;
  /** The newest scanned block that a second endpoint has shown too, -1 before the first; null: there is no second one. */
  agreedTo: number | null;
  /** The first and the last of the blocks that were last scanned without what contracts pass on; null: none was. */
  untraced: Untraced | null;
}

export interface Untraced extends BlockRange {
  /** They were scanned within `untracedForMs`. */
  isRecent: boolean;
}

interface CursorRow {
  next_block: string;
  agreed_to: string | null;
  untraced_from: string | null;
  untraced_to: string | null;
  untraced_is_recent: boolean | null;
  caip2: string;
}

/** How long blocks that were scanned without what contracts pass on are told of, at least. */
export const untracedForMs = 10 * 60_000;
const isRecent = `untraced_at > clock_timestamp() - interval '${untracedForMs} milliseconds'`;

/** null before the first start. @throws Error when the row was written for another chain. */
export async function findCursor(manager: EntityManager, chain: ChainDefinition): Promise<Cursor | null> {
  const [row] = await manager.query<CursorRow[]>(
    `select next_block, agreed_to, untraced_from, untraced_to, ${isRecent} as untraced_is_recent, caip2 from chain_cursors where chain = $1`,
    [chain.name],
  );
  if (!row) return null;
  if (row.caip2 !== chain.caip2)
    throw new Error(
      `this database has followed ${chain.name} as ${row.caip2}, not ${chain.caip2}: one database is one environment`,
    );
  const [from, to] = [toNumber(row.untraced_from), toNumber(row.untraced_to)];
  return {
    nextBlock: Number(row.next_block),
    agreedTo: toNumber(row.agreed_to),
    untraced: from === null || to === null ? null : { from, to, isRecent: row.untraced_is_recent === true },
  };
}

const toNumber = (text: string | null): number | null => (text === null ? null : Number(text));

export async function createCursor(
  manager: EntityManager,
  chain: ChainDefinition,
  nextBlock: number,
  head: number,
  levels: FeeLevels,
): Promise<void> {
  await manager.query(
    `insert into chain_cursors (chain, caip2, next_block, head_block, fee_levels) values ($1, $2, $3, $4, $5::jsonb)
     on conflict (chain) do nothing`,
    [chain.name, chain.caip2, nextBlock, head, JSON.stringify(levels)],
  );
}

/** The head alone: the fee levels that were stored become older. */
export async function storeHeadWithoutLevels(manager: EntityManager, chain: string, head: number): Promise<void> {
  await manager.query('update chain_cursors set head_block = $2, updated_at = now() where chain = $1', [chain, head]);
}

export async function storeHead(manager: EntityManager, chain: string, head: number, levels: FeeLevels): Promise<void> {
  await manager.query(
    `update chain_cursors set head_block = $2, fee_levels = $3::jsonb, fee_levels_at = clock_timestamp(), updated_at = now()
      where chain = $1`,
    [chain, head, JSON.stringify(levels)],
  );
}

/** Those that were noted before count on, where the last of them is not below `joinedFrom`, or they are recent. */
export async function noteUntraced(
  manager: EntityManager,
  chain: string,
  { from, to }: BlockRange,
  joinedFrom: number,
): Promise<void> {
  await manager.query(
    `update chain_cursors
        set untraced_from = case when untraced_to >= $4 or ${isRecent} then least(untraced_from, $2) else $2 end,
            untraced_to = greatest(untraced_to, $3), untraced_at = clock_timestamp()
      where chain = $1`,
    [chain, from, to, joinedFrom],
  );
}

/** null: the chain has one endpoint. */
export async function setAgreedTo(manager: EntityManager, chain: string, agreedTo: number | null): Promise<void> {
  await manager.query('update chain_cursors set agreed_to = $2 where chain = $1', [chain, agreedTo]);
}

/**
 * The next block to scan; null when the block was rolled back meanwhile, or a newer one is agreed. Holds the row's lock to the end.
 */
export async function agree(manager: EntityManager, chain: string, { number, hash }: StoredBlock): Promise<number | null> {
  // a statement of its own: the next one then sees the blocks that a roll-back has left
  const [cursor] = await manager.query<{ next_block: string }[]>(
    'select next_block from chain_cursors where chain = $1 for no key update',
    [chain],
  );
  const [, moved] = await manager.query<[unknown, number]>(
    `update chain_cursors set agreed_to = $2 where chain = $1 and agreed_to < $2
        and exists (select from chain_blocks where chain = $1 and number = $2 and hash = $3)`,
    [chain, number, hash],
  );
  return cursor && moved === 1 ? Number(cursor.next_block) : null;
}

/**
 * null when another follower has moved the cursor: what was scanned is then thrown away. Holds the row's lock to the end. A roll-back takes
 * back what was agreed about the blocks that are gone.
 */
export async function moveCursor(
  manager: EntityManager,
  chain: string,
  expected: number,
  next: number,
): Promise<Pick<Cursor, 'agreedTo'> | null> {
  const [[row]] = await manager.query<[{ agreed_to: string | null }[], number]>(
    `update chain_cursors
        set next_block = $3::bigint, agreed_to = case when agreed_to >= $3::bigint then $3::bigint - 1 else agreed_to end
      where chain = $1 and next_block = $2 returning agreed_to`,
    [chain, expected, next],
  );
  return row ? { agreedTo: toNumber(row.agreed_to) } : null;
}

/** The newest stored block at or below a height: a chain may skip numbers. */
export async function newestBlockUpTo(manager: EntityManager, chain: string, number: number): Promise<StoredBlock | null> {
  const [block] = await storedBlocksBelow(manager, chain, number + 1, 1);
  return block ?? null;
}

/** At most `limit` of the stored blocks below `before`, newest first. */
export async function storedBlocksBelow(
  manager: EntityManager,
  chain: string,
  before: number,
  limit: number,
): Promise<StoredBlock[]> {
  const rows = await manager.query<{ number: string; hash: string }[]>(
    'select number, hash from chain_blocks where chain = $1 and number < $2 order by number desc limit $3',
    [chain, before, limit],
  );
  return rows.map(({ number, hash }) => ({ number: Number(number), hash }));
}

export async function storeBlocks(manager: EntityManager, chain: string, blocks: BlockScan[], keepFrom: number): Promise<void> {
  await manager.query(
    `insert into chain_blocks (chain, number, hash, parent_hash) select $1, * from unnest($2::bigint[], $3::text[], $4::text[])
     on conflict (chain, number) do update set hash = excluded.hash, parent_hash = excluded.parent_hash`,
    [chain, blocks.map(({ number }) => number), blocks.map(({ hash }) => hash), blocks.map(({ parentHash }) => parentHash)],
  );
  await manager.query('delete from chain_blocks where chain = $1 and number < $2', [chain, keepFrom]);
}

export async function dropBlocks(manager: EntityManager, chain: string, from: number): Promise<void> {
  await manager.query('delete from chain_blocks where chain = $1 and number >= $2', [chain, from]);
}
