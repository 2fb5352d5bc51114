import type { EntityManager } from 'typeorm';
import type { BlockScan, ReservationOwner } from './family';

/** Outputs of the gateway's addresses, as the follower has found them: written with the blocks, and taken back with them. */

/** Of one account. */
export interface UnspentOutput {
  resource: string;
  /** Atomic units of the native coin. */
  amount: bigint;
}

export interface HoldableOutput extends UnspentOutput {
  /** No other transaction holds it, and the followed chain is long enough. */
  isSpendable: boolean;
}

/** Stores what scanned blocks do to outputs. Call it in the follower's database transaction. Idempotent. */
export async function storeOutputs(manager: EntityManager, chain: string, blocks: BlockScan[]): Promise<void> {
  const made = blocks.flatMap(({ number, outputs }) => outputs?.made.map((output) => ({ number, ...output })) ?? []);
  if (made.length > 0)
    await manager.query(
      `insert into chain_outputs (chain, resource, owner, amount, spendable_from, block_number)
       select $1, * from unnest($2::text[], $3::text[], $4::numeric[], $5::bigint[], $6::bigint[])
       on conflict (chain, resource) do update set block_number = excluded.block_number, spendable_from = excluded.spendable_from`,
      [
        chain,
        made.map(({ resource }) => resource),
        made.map(({ owner }) => owner),
        made.map(({ amount }) => amount.toString()),
        made.map(({ spendableFrom }) => spendableFrom),
        made.map(({ number }) => number),
      ],
    );
  const spent = blocks.flatMap(({ number, outputs }) => outputs?.spent.map((output) => ({ number, ...output })) ?? []);
  if (spent.length > 0)
    await manager.query(
      `update chain_outputs o set spent_by = s.id, spent_block = s.number
         from unnest($2::text[], $3::text[], $4::bigint[]) as s (resource, id, number)
        where o.chain = $1 and o.resource = s.resource`,
      [chain, spent.map(({ resource }) => resource), spent.map(({ by }) => by), spent.map(({ number }) => number)],
    );
}

/** Takes back what blocks from `fromBlock` on have done to outputs. Call it in the follower's database transaction. */
export async function takeBackOutputs(manager: EntityManager, chain: string, fromBlock: number): Promise<void> {
  await manager.query('delete from chain_outputs where chain = $1 and block_number >= $2', [chain, fromBlock]);
  await manager.query('update chain_outputs set spent_by = null, spent_block = null where chain = $1 and spent_block >= $2', [
    chain,
    fromBlock,
  ]);
}

type Owner = Pick<ReservationOwner, 'chain' | 'addressKey'>;

/** The biggest outputs of an account that the chain has not spent, whether or not transactions hold them; `limit` at most. */
export async function findUnspent(manager: EntityManager, { chain, addressKey }: Owner, limit: number): Promise<UnspentOutput[]> {
  const rows = await manager.query<{ resource: string; amount: string }[]>(
    `select resource, amount from chain_outputs where chain = $1 and owner = $2 and spent_by is null
      order by amount desc, resource limit $3`,
    [chain, addressKey, limit],
  );
  return rows.map(({ resource, amount }) => ({ resource, amount: BigInt(amount) }));
}

/** The same, those first that `txId` holds, and then those that it may spend. */
export async function findHoldable(
  manager: EntityManager,
  { chain, addressKey }: Owner,
  txId: string,
  limit: number,
): Promise<HoldableOutput[]> {
  const rows = await manager.query<{ resource: string; amount: string; is_spendable: boolean }[]>(
    `select o.resource, o.amount, (r.tx_id <> $3::uuid) is not true and o.spendable_from < c.next_block as is_spendable
       from chain_outputs o join chain_cursors c on c.chain = o.chain
       left join reservations r on (r.chain, r.owner, r.resource) = (o.chain, o.owner, o.resource) and r.released_at is null
      where o.chain = $1 and o.owner = $2 and o.spent_by is null
      order by (r.tx_id = $3::uuid) is true desc, is_spendable desc, o.amount desc, o.resource limit $4`,
    [chain, addressKey, txId, limit],
  );
  return rows.map(({ resource, amount, is_spendable: isSpendable }) => ({ resource, amount: BigInt(amount), isSpendable }));
}
