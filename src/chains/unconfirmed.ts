import type { EntityManager } from 'typeorm';
import type { UnspentOutput } from './outputs';
import type { ReservationOwner } from './family';
import type { Hex } from './types';

/** Transactions of the gateway that no scanned block holds, on chains of outputs: later ones may spend what they return. */

/** The newest attempt of an open transaction. */
export interface UnconfirmedTransaction {
  txId: string;
  /** Atomic units of the native coin. */
  fee: bigint;
  /** In the family's unit. */
  size: number;
  /** What another transaction may spend of it now. */
  change: UnspentOutput | null;
  /** Those whose change it spends, by tx_id. */
  parents: string[];
}

/** More of one account are not looked at: then nothing of them is spent before it is in a block. */
export const maxUnconfirmed = 1_000;

interface Row {
  tx_id: string;
  fee: string;
  size: number;
  resource: string | null;
  amount: string | null;
  parents: string[];
}

/** The output is in no scanned block. */
const isUnconfirmed = (output: string): string =>
  `not exists (select from chain_outputs c where (c.chain, c.resource) = (${output}.chain, ${output}.resource))`;

/**
 * Change may be spent once a node has accepted its transaction, as long as that is not replaced and everything that it spends is there.
 * Call it under the account's lock: what is replaced or spent meanwhile is then known.
 */
export async function findUnconfirmed(
  manager: EntityManager,
  { chain, accountId }: ReservationOwner,
): Promise<UnconfirmedTransaction[]> {
  const rows = await manager.query<Row[]>(
    `select t.tx_id, a.fee_bound as fee, a.size, o.resource, o.amount,
            array(select distinct p.tx_id from attempt_reservations l join reservations r using (reservation_id)
                    join attempt_outputs p on (p.chain, p.resource) = (r.chain, r.resource)
                   where (l.tx_id, l.attempt) = (a.tx_id, a.attempt) and ${isUnconfirmed('p')}) as parents
       from transactions t
       join lateral (select * from transfer_attempts n where n.tx_id = t.tx_id order by attempt desc limit 1) a on true
       left join attempt_outputs o on (o.tx_id, o.attempt) = (a.tx_id, a.attempt)
        and t.status = 'SUBMITTED' and a.broadcast_at is not null and a.kind <> 'cancellation' and a.impossible_proof is null
        and ${isUnconfirmed('o')}
        and not exists (select from reservations r where (r.chain, r.owner, r.resource) = (o.chain, o.owner, o.resource) and r.released_at is null)
        and not exists (select from attempt_reservations l join reservations r using (reservation_id)
                          left join chain_outputs c on (c.chain, c.resource) = (r.chain, r.resource)
                          left join attempt_outputs p on (p.chain, p.resource) = (r.chain, r.resource)
                         where (l.tx_id, l.attempt) = (a.tx_id, a.attempt)
                           and (coalesce(c.resource, p.resource) is null or c.spent_by is not null))
      where t.account_id = $1 and t.chain = $2 and t.ended_at is null and t.is_signed and a.size is not null
        and not exists (select from transfer_attempts i join chain_cursors k on k.chain = i.chain
                         where i.tx_id = t.tx_id and i.block_number < k.next_block)
      limit $3`,
    [accountId, chain, maxUnconfirmed + 1],
  );
  return rows.map(({ tx_id: txId, fee, size, resource, amount, parents }) => ({
    txId,
    fee: BigInt(fee),
    size,
    change: resource !== null && amount !== null ? { resource, amount: BigInt(amount) } : null,
    parents,
  }));
}

/** Another transaction holds what an attempt of this one returns: without that attempt it could not be executed. */
export async function hasDescendant(manager: EntityManager, txId: string): Promise<boolean> {
  const [row] = await manager.query<{ found: boolean }[]>(
    `select exists (select from attempt_outputs o
                      join reservations r on (r.chain, r.owner, r.resource) = (o.chain, o.owner, o.resource) and r.released_at is null
                     where o.tx_id = $1 and r.tx_id <> $1) as found`,
    [txId],
  );
  return row?.found === true;
}

/** Generations that are looked at: no chain has as many transactions that depend on each other in its pool. */
const maxGenerations = 25;

/** The signed bytes of the attempts that an attempt depends on, as far as no scanned block holds them; the oldest first. */
export async function findAncestors(manager: EntityManager, txId: string, attempt: number): Promise<Hex[]> {
  const rows = await manager.query<{ signed: Hex }[]>(
    `with recursive lineage as (
       select $1::uuid as tx_id, $2::int as attempt, 0 as generation
       union
       select p.tx_id, p.attempt, g.generation + 1 from lineage g
         join attempt_reservations l on (l.tx_id, l.attempt) = (g.tx_id, g.attempt) join reservations r using (reservation_id)
         join attempt_outputs p on (p.chain, p.resource) = (r.chain, r.resource)
        where g.generation < ${maxGenerations} and ${isUnconfirmed('p')}
     )
     select a.signed from (select tx_id, attempt, max(generation) as generation from lineage group by tx_id, attempt) g
       join transfer_attempts a using (tx_id, attempt)
      where g.generation > 0 and a.signed is not null order by g.generation desc limit ${maxGenerations}`,
    [txId, attempt],
  );
  return rows.map(({ signed }) => signed);
}
