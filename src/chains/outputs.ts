import type { EntityManager } from 'typeorm';
import type { BlockScan, ReservationOwner } from './family';

/** Outputs of the gateway's addresses, as the follower has found them: written with the blocks, and taken back with them. */

/** Of one account. */
export interface UnspentOutput {
  resource: string;
  /** Atomic units of the native coin. */
  amount: bigint;
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
  const rows = await manager.query<Row[]>(
    `select resource, amount from chain_outputs where chain = $1 and owner = $2 and spent_by is null
      order by amount desc, resource limit $3`,
    [chain, addressKey, limit],
  );
  return rows.map(toOutput);
}

/** Those that `txId` holds and the chain has not spent, in the order in which they were taken. */
export async function findHeld(manager: EntityManager, { chain, addressKey }: Owner, txId: string): Promise<UnspentOutput[]> {
  const rows = await manager.query<Row[]>(
    `select o.resource, o.amount from reservations r join chain_outputs o on (o.chain, o.resource) = (r.chain, r.resource)
      where r.tx_id = $3 and r.released_at is null and o.chain = $1 and o.owner = $2 and o.spent_by is null
      order by r.reservation_id`,
    [chain, addressKey, txId],
  );
  return rows.map(toOutput);
}

/** The biggest ones that nobody holds, and that the followed chain is long enough for; `limit` at most. */
export async function findFree(manager: EntityManager, { chain, addressKey }: Owner, limit: number): Promise<UnspentOutput[]> {
  const rows = await manager.query<Row[]>(
    `select o.resource, o.amount from chain_outputs o
      where o.chain = $1 and o.owner = $2 and o.spent_by is null
        and o.spendable_from < (select next_block from chain_cursors where chain = $1)
        and not exists (select from reservations r
                         where (r.chain, r.owner, r.resource) = (o.chain, o.owner, o.resource) and r.released_at is null)
      order by o.amount desc, o.resource limit $3`,
    [chain, addressKey, limit],
  );
  return rows.map(toOutput);
}

interface Row {
  resource: string;
  amount: string;
}

const toOutput = ({ resource, amount }: Row): UnspentOutput => ({ resource, amount: BigInt(amount) });
