import type { EntityManager } from 'typeorm';
import type { BlockScan } from './chain-client';
import type { ReservationOwner } from './family';

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
      `insert into chain_outputs (chain, resource, owner, amount, spendable_from, block_number, made_by)
       select $1, * from unnest($2::text[], $3::text[], $4::numeric[], $5::bigint[], $6::bigint[], $7::text[])
       on conflict (chain, resource) do update set block_number = excluded.block_number, spendable_from = excluded.spendable_from`,
      [
        chain,
        made.map(({ resource }) => resource),
        made.map(({ owner }) => owner),
        made.map(({ amount }) => amount.toString()),
        made.map(({ spendableFrom }) => spendableFrom),
        made.map(({ number }) => number),
        made.map(({ madeBy }) => madeBy),
      ],
    );
  const spent = blocks.flatMap(({ number, outputs }) => outputs?.spent.map((output) => ({ number, ...output })) ?? []);
  for (let start = 0; start < spent.length; start += chunkSize)
    await markSpent(manager, chain, spent.slice(start, start + chunkSize));
}

interface Spent {
  resource: string;
  /** Id of the spending transaction. */
  by: string;
  number: number;
}

/** Inputs of blocks in one statement: a block has up to 20,000. */
const chunkSize = 10_000;

/**
 * Those of these inputs that spend what is on record, few as a rule. Each is looked up by itself: for a join with so many the database would read
 * both tables from end to end.
 */
async function findRecorded(manager: EntityManager, chain: string, spent: Spent[]): Promise<Spent[]> {
  const rows = await manager.query<{ at: number }[]>(
    `select at::int from unnest($2::text[]) with ordinality as s (resource, at)
      where (select true from chain_outputs where chain = $1 and resource = s.resource)
         or (select true from output_origins where chain = $1 and input = s.resource limit 1)`,
    [chain, spent.map(({ resource }) => resource)],
  );
  return rows.flatMap(({ at }) => spent[at - 1] ?? []);
}

/** By output alone, whatever has spent it. */
async function markSpent(manager: EntityManager, chain: string, inputs: Spent[]): Promise<void> {
  const spent = await findRecorded(manager, chain, inputs);
  if (spent.length === 0) return;
  await manager.query(
    `with spent as materialized (select * from unnest($2::text[], $3::text[], $4::bigint[]) as s (resource, id, number)),
          watched as (update output_origins o set spent_by = s.id, spent_block = s.number from spent s
                       where o.chain = $1 and o.input = s.resource)
     update chain_outputs o set spent_by = s.id, spent_block = s.number from spent s
      where o.chain = $1 and o.resource = s.resource`,
    [chain, spent.map(({ resource }) => resource), spent.map(({ by }) => by), spent.map(({ number }) => number)],
  );
}

/** Takes back what blocks from `fromBlock` on have done to outputs. Call it in the follower's database transaction. */
export async function takeBackOutputs(manager: EntityManager, chain: string, fromBlock: number): Promise<void> {
  await manager.query('delete from chain_outputs where chain = $1 and block_number >= $2', [chain, fromBlock]);
  for (const table of ['chain_outputs', 'output_origins'])
    await manager.query(`update ${table} set spent_by = null, spent_block = null where chain = $1 and spent_block >= $2`, [
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

/**
 * Those that `txId` holds and the chain has not spent, in the order in which they were taken; also change of attempts that no block holds
 * yet, unless these can never be executed.
 */
export async function findHeld(manager: EntityManager, { chain, addressKey }: Owner, txId: string): Promise<UnspentOutput[]> {
  const rows = await manager.query<Row[]>(
    `select r.resource, coalesce(o.amount, p.amount) as amount from reservations r
       left join chain_outputs o on (o.chain, o.resource) = (r.chain, r.resource)
       left join (attempt_outputs p join transfer_attempts a using (tx_id, attempt)) on (p.chain, p.resource) = (r.chain, r.resource)
      where r.tx_id = $3 and r.released_at is null and r.chain = $1 and r.owner = $2
        and case when o.resource is null then p.resource is not null and a.impossible_proof is null else o.spent_by is null end
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

/** The follower has not read up to the head it has seen, as after a reorganisation: outputs may be missing that are in blocks. */
export async function isBehind(manager: EntityManager, chain: string): Promise<boolean> {
  const [row] = await manager.query<{ behind: boolean }[]>(
    'select next_block <= head_block as behind from chain_cursors where chain = $1',
    [chain],
  );
  return row?.behind === true;
}

interface Row {
  resource: string;
  amount: string;
}

const toOutput = ({ resource, amount }: Row): UnspentOutput => ({ resource, amount: BigInt(amount) });
