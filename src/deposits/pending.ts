import type { EntityManager } from 'typeorm';
import type { GetFamily } from '../chains/family';
import type { ChainDefinition, PendingDeposit } from '../chains/types';
import { type DepositRow, insertDepositRows, toDepositRows } from './rows';

/**
 * Deposits that no block holds yet: DETECTED without a block, never credited. They cost whoever makes them next to nothing, and rows of
 * transactions are kept, so that their number is limited: what is above a limit is shown once a block holds it.
 */
export interface PendingLimits {
  /** Of one account, and of the chain. */
  atOnce: { account: number; chain: number };
  /** The same, with those that have ended without a block, within 24 hours. */
  perDay: { account: number; chain: number };
}

const pendingLimits: PendingLimits = {
  atOnce: { account: 20, chain: 5_000 },
  perDay: { account: 100, chain: 20_000 },
};

/** Stores them as DETECTED as far as the limits allow; those that are known stay as they are. Call it in a database transaction. */
export async function recordPendingDeposits(
  manager: EntityManager,
  chain: ChainDefinition,
  found: PendingDeposit[],
  { limits = pendingLimits, findFamily }: { limits?: PendingLimits; findFamily?: GetFamily } = {},
): Promise<void> {
  // two followers do not count beside each other
  await manager.query('select 1 from chain_cursors where chain = $1 for no key update', [chain.name]);
  const rows = await withoutKnown(manager, chain, await toDepositRows(manager, chain, found, findFamily));
  if (rows.length === 0) return;
  const counts = await countPending(manager, chain.name, limits);
  await insertDepositRows(manager, chain, rows.filter(counts.take));
}

/** Each place once. */
async function withoutKnown(manager: EntityManager, chain: ChainDefinition, rows: DepositRow[]): Promise<DepositRow[]> {
  const known = await manager.query<{ tx_hash: string; position: string }[]>(
    `select tx_hash, position from transactions
      where chain = $1 and tx_hash = any($2::text[]) and direction = 'in' and status <> 'ORPHANED'`,
    [chain.name, rows.map(({ tx_hash: hash }) => hash)],
  );
  const toPlace = ({ tx_hash: hash, position }: Pick<DepositRow, 'tx_hash' | 'position'>) => `${hash} ${position}`;
  const places = new Set(known.map(toPlace));
  return rows.filter((row) => {
    const isNew = !places.has(toPlace(row));
    places.add(toPlace(row));
    return isNew;
  });
}

interface Count {
  open: number;
  made: number;
}

/** `take`: whether there is room for one more, which is then counted. */
async function countPending(manager: EntityManager, chain: string, { atOnce, perDay }: PendingLimits) {
  const stored = await manager.query<({ account_id: string } & Count)[]>(
    `select account_id, count(*) filter (where ended_at is null)::int as open, count(*)::int as made from transactions
      where chain = $1 and direction = 'in' and block_hash is null and (ended_at is null or created_at > now() - interval '1 day')
      group by account_id`,
    [chain],
  );
  const accounts = new Map<string, Count>(stored.map(({ account_id: id, open, made }) => [id, { open, made }]));
  const all = stored.reduce((sum, { open, made }) => ({ open: sum.open + open, made: sum.made + made }), { open: 0, made: 0 });
  const take = ({ account_id: id }: DepositRow): boolean => {
    const own = accounts.get(id) ?? { open: 0, made: 0 };
    const hasRoom = own.open < atOnce.account && own.made < perDay.account && all.open < atOnce.chain && all.made < perDay.chain;
    if (!hasRoom) return false;
    accounts.set(id, { open: own.open + 1, made: own.made + 1 });
    all.open += 1;
    all.made += 1;
    return true;
  };
  return { take };
}

/** Ids of the transactions whose deposits are stored and in no block. */
export async function findPendingHashes(manager: EntityManager, chain: string): Promise<string[]> {
  const rows = await manager.query<{ tx_hash: string }[]>(
    `select distinct tx_hash from transactions
      where chain = $1 and status = 'DETECTED' and block_hash is null order by tx_hash limit ${pendingLimits.atOnce.chain}`,
    [chain],
  );
  return rows.map(({ tx_hash: hash }) => hash);
}

/** Ends the deposits of transactions that neither wait nor are in a block: ORPHANED. One that comes back is a new deposit. */
export async function endPendingDeposits(manager: EntityManager, chain: string, hashes: string[]): Promise<void> {
  await manager.query(
    `update transactions set status = 'ORPHANED', version = version + 1
      where chain = $1 and tx_hash = any($2::text[]) and direction = 'in' and status = 'DETECTED' and block_hash is null`,
    [chain, hashes],
  );
}
