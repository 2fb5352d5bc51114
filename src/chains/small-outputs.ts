import type { EntityManager } from 'typeorm';
import type { ReservationOwner } from './family';
import type { UnspentOutput } from './outputs';

type Owner = Pick<ReservationOwner, 'chain' | 'accountId' | 'addressKey'>;

/** Amounts in atomic units of the native coin, without the bounds themselves. */
export interface AmountRange {
  above: bigint;
  below: bigint;
}

/** The smallest outputs in the range that nobody holds, and that the followed chain is long enough for; `limit` at most. */
export async function findSmallFree(
  manager: EntityManager,
  { chain, addressKey }: Owner,
  { above, below }: AmountRange,
  limit: number,
): Promise<UnspentOutput[]> {
  const rows = await manager.query<{ resource: string; amount: string }[]>(
    `select o.resource, o.amount from chain_outputs o
      where o.chain = $1 and o.owner = $2 and o.spent_by is null and o.amount > $3 and o.amount < $4
        and o.spendable_from < (select next_block from chain_cursors where chain = $1)
        and not exists (select from reservations r
                         where (r.chain, r.owner, r.resource) = (o.chain, o.owner, o.resource) and r.released_at is null)
      order by o.amount, o.resource limit $5`,
    [chain, addressKey, above.toString(), below.toString(), limit],
  );
  return rows.map(({ resource, amount }) => ({ resource, amount: BigInt(amount) }));
}

/** Of an account's open transfers that hold no outputs yet. */
export interface WaitingTransfers {
  count: number;
  /** With the highest fees; atomic units of the native coin. */
  amount: bigint;
}

/** `exceptTxId`: is none of them. */
export async function findWaitingTransfers(
  manager: EntityManager,
  { chain, accountId }: Owner,
  exceptTxId: string | null,
): Promise<WaitingTransfers> {
  const [row] = await manager.query<{ count: number; amount: string }[]>(
    `select count(*)::int as count, coalesce(sum(t.amount + t.fee_locked), 0) as amount from transactions t
      where t.account_id = $1 and t.chain = $2 and t.is_held and t.ended_at is null and t.tx_id is distinct from $3
        and not exists (select from reservations r where r.tx_id = t.tx_id and r.released_at is null)`,
    [accountId, chain, exceptTxId],
  );
  return { count: row?.count ?? 0, amount: BigInt(row?.amount ?? 0) };
}

/** An output of an account that the chain has not spent. */
export interface ListedOutput extends UnspentOutput {
  /** Height of its block. */
  block: number;
  /** The first block at whose height it may be spent. */
  spendableFrom: number;
  /** The transaction that holds it; null: none does. */
  heldBy: string | null;
}

/** The smallest ones; `limit` at most. */
export async function listOutputs(
  manager: EntityManager,
  { chain, addressKey }: Omit<Owner, 'accountId'>,
  limit: number,
): Promise<ListedOutput[]> {
  const rows = await manager.query<Record<'resource' | 'amount' | 'block_number' | 'spendable_from', string>[]>(
    `select o.resource, o.amount, o.block_number, o.spendable_from, r.tx_id as held_by
       from chain_outputs o
       left join reservations r on (r.chain, r.owner, r.resource) = (o.chain, o.owner, o.resource) and r.released_at is null
      where o.chain = $1 and o.owner = $2 and o.spent_by is null order by o.amount, o.resource limit $3`,
    [chain, addressKey, limit],
  );
  return rows.map((row) => ({
    resource: row.resource,
    amount: BigInt(row.amount),
    block: Number(row.block_number),
    spendableFrom: Number(row.spendable_from),
    heldBy: (row as { held_by?: string | null }).held_by ?? null,
  }));
}
