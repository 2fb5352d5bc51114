import type { EntityManager } from 'typeorm';
import type { BlockScan, ExpectedTransfer } from '../chains/adapter';
import type { ChainDefinition, FeeLevels, InclusionEffect } from '../chains/types';
import type { Hex } from '../chains/types';

/** Every statement of the follower. Block numbers are plain numbers: no chain gets near 2^53. */

export interface StoredBlock {
  number: number;
  hash: string;
}

/** An attempt of the transaction stands in the block that the transaction names. */
const stillStands = 'exists (select 1 from transfer_attempts a where a.tx_id = t.tx_id and a.block_hash = t.block_hash)';
/** A block that was scanned at the height of the attempt, and is another one. */
const contradicted =
  'exists (select 1 from chain_blocks b where b.chain = a.chain and b.number = a.block_number and b.hash <> a.block_hash)';

/** Statement parameters at once: Postgres takes 65,535, and smaller arrays plan better. */
const chunkSize = 5_000;

const toChunks = <T>(items: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(items.length / chunkSize) }, (_, index) =>
    items.slice(index * chunkSize, (index + 1) * chunkSize),
  );

/** Next block to scan; null before the first start. @throws Error when the row was written for another chain id. */
export async function findNextBlock(manager: EntityManager, chain: ChainDefinition): Promise<number | null> {
  const [row] = await manager.query<{ next_block: string; chain_id: string }[]>(
    'select next_block, chain_id from chain_cursors where chain = $1',
    [chain.name],
  );
  if (!row) return null;
  if (Number(row.chain_id) !== chain.chainId)
    throw new Error(
      `this database has followed ${chain.name} with chain id ${row.chain_id}, not ${chain.chainId}: one database is one environment`,
    );
  return Number(row.next_block);
}

export async function createCursor(
  manager: EntityManager,
  chain: ChainDefinition,
  nextBlock: number,
  head: number,
  levels: FeeLevels,
): Promise<void> {
  await manager.query(
    `insert into chain_cursors (chain, chain_id, next_block, head_block, base_fee, priority_fee, gas_price, l1_data_fee)
     values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (chain) do nothing`,
    [chain.name, chain.chainId, nextBlock, head, ...feeColumns(levels)],
  );
}

export async function storeHead(manager: EntityManager, chain: string, head: number, levels: FeeLevels): Promise<void> {
  await manager.query(
    `update chain_cursors set head_block = $2, base_fee = $3, priority_fee = $4, gas_price = $5, l1_data_fee = $6, updated_at = now() where chain = $1`,
    [chain, head, ...feeColumns(levels)],
  );
}

const feeColumns = ({ baseFee, priorityFee, gasPrice, l1DataFee }: FeeLevels) => [
  baseFee?.toString() ?? null,
  priorityFee?.toString() ?? null,
  gasPrice.toString(),
  l1DataFee.toString(),
];

/** False when another follower has moved the cursor: what was scanned is then thrown away. Holds the row's lock to the end. */
export async function moveCursor(manager: EntityManager, chain: string, expected: number, next: number): Promise<boolean> {
  const [, moved] = await manager.query<[unknown, number]>(
    'update chain_cursors set next_block = $3 where chain = $1 and next_block = $2',
    [chain, expected, next],
  );
  return moved === 1;
}

export async function storedBlock(manager: EntityManager, chain: string, number: number): Promise<StoredBlock | null> {
  const [row] = await manager.query<{ number: string; hash: string }[]>(
    'select number, hash from chain_blocks where chain = $1 and number = $2',
    [chain, number],
  );
  return row ? { number: Number(row.number), hash: row.hash } : null;
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

export interface AttemptRow {
  txId: string;
  attempt: number;
  hash: Hex;
  movement: ExpectedTransfer;
}

/** Signed attempts among these transaction hashes. A cancellation moves nothing from the account to itself. */
export async function attemptsAmong(manager: EntityManager, chain: string, hashes: string[]): Promise<AttemptRow[]> {
  const rows = await Promise.all(
    toChunks(hashes).map((chunk) =>
      manager.query<RawAttempt[]>(`${selectAttempts} where a.chain = $1 and a.tx_hash = any($2)`, [chain, chunk]),
    ),
  );
  return rows.flat().map(toAttempt);
}

/** Every signed attempt of one transfer, oldest first. */
export async function findAttempts(manager: EntityManager, txId: string): Promise<AttemptRow[]> {
  const rows = await manager.query<RawAttempt[]>(
    `${selectAttempts} where a.tx_id = $1 and a.tx_hash is not null order by a.attempt`,
    [txId],
  );
  return rows.map(toAttempt);
}

const selectAttempts = `select a.tx_id, a.attempt, a.tx_hash, a.kind, t.from_address, t.to_address, t.contract_address, t.amount
  from transfer_attempts a join transactions t on t.tx_id = a.tx_id`;

interface RawAttempt {
  tx_id: string;
  attempt: number;
  tx_hash: Hex;
  kind: string;
  from_address: string;
  to_address: string;
  contract_address: string | null;
  amount: string;
}

function toAttempt(row: RawAttempt): AttemptRow {
  const from = row.from_address;
  const movement: ExpectedTransfer =
    row.kind === 'cancellation'
      ? { from, to: from, tokenContract: null, amount: 0n }
      : { from, to: row.to_address, tokenContract: row.contract_address, amount: BigInt(row.amount) };
  return { txId: row.tx_id, attempt: row.attempt, hash: row.tx_hash, movement };
}

/** False, and nothing is stored, where the follower has scanned another block at that height. */
export async function storeInclusion(
  manager: EntityManager,
  { txId, attempt }: Pick<AttemptRow, 'txId' | 'attempt'>,
  effect: InclusionEffect,
): Promise<boolean> {
  const [, stored] = await manager.query<[unknown, number]>(
    `update transfer_attempts a set block_number = $3, block_hash = $4, success = $5, fee = $6, debited = $7, received = $8
      where a.tx_id = $1 and a.attempt = $2
        and not exists (select 1 from chain_blocks b where b.chain = a.chain and b.number = $3 and b.hash <> $4)`,
    [
      txId,
      attempt,
      effect.blockNumber,
      effect.blockHash,
      effect.success,
      effect.fee.toString(),
      effect.debited?.toString() ?? null,
      effect.received?.toString() ?? null,
    ],
  );
  return stored === 1;
}

const cleared = 'block_number = null, block_hash = null, success = null, fee = null, debited = null, received = null';

/** Forgets inclusions in blocks from `from` on; returns the transfers concerned. */
export async function clearInclusions(
  manager: EntityManager,
  chain: string,
  from: number,
): Promise<{ txId: string; hash: Hex }[]> {
  const [rows] = await manager.query<[{ tx_id: string; tx_hash: Hex }[], number]>(
    `update transfer_attempts set ${cleared} where chain = $1 and block_number >= $2 returning tx_id, tx_hash`,
    [chain, from],
  );
  return rows.map(({ tx_id, tx_hash }) => ({ txId: tx_id, hash: tx_hash }));
}

/**
 * Forgets inclusions that the scanned blocks contradict: `observe` may have been told of a block, by another node, that was
 * reorganised away before the follower came to its height, and no roll-back would ever reach it.
 */
export async function clearContradicted(
  manager: EntityManager,
  chain: string,
  from: number,
  to: number,
): Promise<{ txId: string; hash: Hex }[]> {
  const [rows] = await manager.query<[{ tx_id: string; tx_hash: Hex }[], number]>(
    `update transfer_attempts a set ${cleared} from chain_blocks b
      where a.chain = $1 and a.block_number between $2 and $3 and b.chain = a.chain and b.number = a.block_number and b.hash <> a.block_hash
     returning a.tx_id, a.tx_hash`,
    [chain, from, to],
  );
  return rows.map(({ tx_id, tx_hash }) => ({ txId: tx_id, hash: tx_hash }));
}

/**
 * Ended transfers, not final yet, whose block no attempt of theirs stands in any more: reorganised away, perhaps mined again
 * elsewhere. Derived from the rows, so that no crash after a roll-back can lose one.
 */
export async function endedWithoutBlock(manager: EntityManager, chain: string): Promise<string[]> {
  const rows = await manager.query<{ tx_id: string }[]>(
    `select t.tx_id from transactions t
      where t.chain = $1 and t.block_number is not null and t.finalized_at is null and t.transaction_type <> 'INBOUND'
        and t.status in ('CONFIRMED', 'FAILED') and not ${stillStands} limit 1000`,
    [chain],
  );
  return rows.map(({ tx_id }) => tx_id);
}

export interface IncludedTransfer {
  txId: string;
  hash: Hex;
  blockNumber: number;
  requiredConfirmations: number;
}

/** Transfers that still wait, although an attempt of theirs stands in a block that was scanned. */
export async function includedOpenTransfers(
  manager: EntityManager,
  chain: string,
  scannedTo: number,
): Promise<IncludedTransfer[]> {
  const rows = await manager.query<{ tx_id: string; tx_hash: Hex; block_number: string; required_confirmations: number }[]>(
    `select t.tx_id, a.tx_hash, a.block_number, t.required_confirmations
       from transactions t join transfer_attempts a on a.tx_id = t.tx_id and a.block_number <= $2 and not ${contradicted}
      where t.chain = $1 and t.ended_at is null and t.status in ('SIGNING', 'SUBMITTED', 'NEEDS_ATTENTION')
      order by a.block_number limit 10000`,
    [chain, scannedTo],
  );
  return rows.map((row) => ({
    txId: row.tx_id,
    hash: row.tx_hash,
    blockNumber: Number(row.block_number),
    requiredConfirmations: row.required_confirmations,
  }));
}

/** Marks what can no longer be reorganised away. */
export async function finalize(manager: EntityManager, chain: string, upToBlock: number): Promise<void> {
  await manager.query(
    `update transactions t set finalized_at = now()
      where t.chain = $1 and t.block_number <= $2 and t.finalized_at is null and t.status in ('CONFIRMED', 'FAILED')
        and (t.transaction_type = 'INBOUND' or ${stillStands})`,
    [chain, upToBlock],
  );
}
