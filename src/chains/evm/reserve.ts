import type { EntityManager } from 'typeorm';
import type { ReservationOwner, ReserveResult } from '../family';
import { findReservations, insertReservation } from '../reservations';
import type { AttemptKind, Prepared } from '../types';
import { readDetails } from './details';

/** A new nonce for a first attempt; every other attempt uses the nonce of its transfer. */
export async function reserveNonce(
  manager: EntityManager,
  owner: ReservationOwner,
  prepared: Prepared,
  txId: string,
  kind: AttemptKind,
): Promise<ReserveResult> {
  if (kind === 'reissue') throw new Error('an EVM transfer has no reissue: its nonce does not expire');
  if (kind === 'first')
    return { outcome: 'reserved', resources: [await takeNonce(manager, owner, readDetails(prepared).minedNonce, txId)] };
  const held = await findReservations(manager, txId);
  return { outcome: 'reserved', resources: held.map(({ resource }) => resource) };
}

/**
 * Takes the lowest nonce, from `minedNonce` on, that no transfer has, so that gaps are filled first. A nonce is a row and is never
 * given back, so this is called only in the database transaction that begins signing. Concurrent calls for one account are
 * serialised.
 */
async function takeNonce(manager: EntityManager, owner: ReservationOwner, minedNonce: number, txId: string): Promise<string> {
  const { chain, accountId, addressKey } = owner;
  await manager.query('select 1 from accounts where account_id = $1 for no key update', [accountId]);
  const [row] = await manager.query<{ nonce: string | null }[]>(
    `select min(candidate) as nonce from (
       select $3::bigint as candidate
       union all
       select ordinal + 1 from reservations where chain = $1 and owner = $2 and ordinal >= $3::bigint
     ) candidates
     where not exists (select 1 from reservations where chain = $1 and owner = $2 and ordinal = candidate)`,
    [chain, addressKey, minedNonce],
  );
  const nonce = row?.nonce;
  if (!nonce || !Number.isSafeInteger(Number(nonce))) throw new Error(`no nonce for ${addressKey} on ${chain}`);
  await insertReservation(manager, owner, txId, { resource: nonce, ordinal: BigInt(nonce) });
  return nonce;
}
