import type { EntityManager } from 'typeorm';
import type { Reservation } from './chain-client';
import type { DoubtedCount, ReservationOwner } from './family';

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

/** An address of which the chain counts other transactions than the gateway knows: nothing is begun for it. */
export interface DoubtedOrdinal extends DoubtedCount {
  chain: string;
  accountId: string;
}

/** Keeps it for operators until an ordinal is taken. Call it outside of the database transaction that was to take one, which is rolled back. */
export async function recordDoubtedOrdinal(
  manager: EntityManager,
  { chain, addressKey, accountId }: ReservationOwner,
  { reported, expected }: DoubtedCount,
): Promise<void> {
  await manager.query(
    `insert into doubted_ordinals (chain, owner, account_id, reported, expected) values ($1, $2, $3, $4, $5)
     on conflict (chain, owner) do update
       set reported = excluded.reported, expected = excluded.expected, seen_at = clock_timestamp()`,
    [chain, addressKey, accountId, reported.toString(), expected.toString()],
  );
}

/**
 * So many transactions of the address are not doubted any more. `lastSeenAt`: only if none was reported after that; text of the database.
 * @returns whether it was doubted, and is not any more
 */
export async function dropDoubtedOrdinal(
  manager: EntityManager,
  { chain, addressKey }: Pick<ReservationOwner, 'chain' | 'addressKey'>,
  upTo: bigint,
  lastSeenAt: string | null = null,
): Promise<boolean> {
  const [, dropped] = await manager.query<[unknown[], number]>(
    `delete from doubted_ordinals
      where chain = $1 and owner = $2 and reported <= $3 and ($4::timestamptz is null or seen_at <= $4)`,
    [chain, addressKey, upTo.toString(), lastSeenAt],
  );
  return dropped > 0;
}

/** A count that the chain has not confirmed for so long after it was reported last does not become final. */
export const doubtIsPast = `seen_at < now() - interval '1 hour'`;

/** Drops what was reported of the address, whatever the count, if it is past. */
export async function dropPastDoubt(
  manager: EntityManager,
  { chain, addressKey }: Pick<ReservationOwner, 'chain' | 'addressKey'>,
): Promise<void> {
  await manager.query(`delete from doubted_ordinals where chain = $1 and owner = $2 and ${doubtIsPast}`, [chain, addressKey]);
}

/** More are not reported. */
const maxDoubted = 100;

/** Those that are not explained yet, on one chain or on all, and of one account or of all: nothing is accepted for them. */
export async function findDoubtedOrdinals(
  manager: EntityManager,
  chain: string | null = null,
  account: string | null = null,
): Promise<DoubtedOrdinal[]> {
  const rows = await manager.query<{ chain: string; account_id: string; reported: string; expected: string }[]>(
    `select chain, account_id, reported, expected from doubted_ordinals
      where ($1::text is null or chain = $1) and ($2::uuid is null or account_id = $2)
      order by since limit ${maxDoubted}`,
    [chain, account],
  );
  return rows.map(({ chain: name, account_id: accountId, reported, expected }) => ({
    ...{ chain: name, accountId },
    ...{ reported: BigInt(reported), expected: BigInt(expected) },
  }));
}
