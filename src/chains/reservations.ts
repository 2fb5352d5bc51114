import type { EntityManager } from 'typeorm';
import type { Reservation } from './chain-client';
import type { ReservationOwner } from './family';

/**
 * Takes a resource for a transaction. With an ordinal (nonce) it is never given back.
 * @throws a unique violation when another transaction holds it.
 */
export async function insertReservation(
  manager: EntityManager,
  { chain, addressKey }: ReservationOwner,
  txId: string,
  { resource, ordinal }: { resource: string; ordinal: bigint | null },
): Promise<void> {
  await manager.query('insert into reservations (chain, owner, resource, ordinal, tx_id) values ($1, $2, $3, $4, $5)', [
    chain,
    addressKey,
    resource,
    ordinal?.toString() ?? null,
    txId,
  ]);
}

/**
 * Gives back what ended or impossible attempts of these transactions have not used up. Nonces stay taken; the database refuses to
 * give back what an attempt may still use.
 */
export async function releaseReservations(manager: EntityManager, txIds: string[]): Promise<void> {
  await manager.query(
    `update reservations r set released_at = clock_timestamp()
      where r.tx_id = any($1::uuid[]) and r.ordinal is null and r.released_at is null
        and not exists (select 1 from attempt_reservations l join transfer_attempts a on a.tx_id = l.tx_id and a.attempt = l.attempt
                         where l.reservation_id = r.reservation_id and a.block_hash is not null)`,
    [txIds],
  );
}

interface ReservationRow {
  reservation_id: string;
  owner: string;
  resource: string;
  ordinal: string | null;
  spent_by: string | null;
  is_in_block: boolean;
}

/** The reservations of a transaction, in the order in which they were taken. */
export async function findReservations(manager: EntityManager, txId: string): Promise<Reservation[]> {
  const rows = await manager.query<ReservationRow[]>(
    `select r.reservation_id, r.owner, r.resource, r.ordinal, coalesce(o.spent_by, f.id) as spent_by, o.resource is not null as is_in_block
       from reservations r left join chain_outputs o on (o.chain, o.resource) = (r.chain, r.resource)
       left join foreign_transactions f on (f.chain, f.owner, f.ordinal) = (r.chain, r.owner, r.ordinal)
      where r.tx_id = $1 and r.released_at is null order by r.reservation_id`,
    [txId],
  );
  return rows.map(({ reservation_id: reservationId, owner, resource, ordinal, spent_by: usedBy, is_in_block: isInBlock }) => ({
    reservationId,
    owner,
    resource,
    ordinal: ordinal === null ? null : BigInt(ordinal),
    usedBy,
    isInBlock,
  }));
}

/**
 * Says that all ordinals (nonces) of the address below this one are used up by final transactions, also those of which there are no rows:
 * none of them is taken any more.
 */
export async function recordForeignOrdinals(
  manager: EntityManager,
  { chain, addressKey }: Pick<ReservationOwner, 'chain' | 'addressKey'>,
  below: bigint,
): Promise<void> {
  await manager.query('insert into foreign_ordinals (chain, owner, below) values ($1, $2, $3) on conflict do nothing', [
    chain,
    addressKey,
    below.toString(),
  ]);
}
