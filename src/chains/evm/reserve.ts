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
  if (kind === 'first') return takeNonce(manager, owner, readDetails(prepared).minedNonce, txId);
  const held = await findReservations(manager, txId);
  return { outcome: 'reserved', resources: held.map(({ resource }) => resource) };
}

/**
 * Takes the account's next nonce, by the rows alone: whoever reports the chain's count could otherwise open a gap that no transaction
 * fills. A nonce is a row and is never given back, so this is called only in the database transaction that begins signing, and there
 * is no gap. Concurrent calls for one account are serialised. An account of which the chain has executed more than the gateway has
 * signed is used by somebody else, or rows are missing: nothing is signed for it until an operator has looked.
 */
async function takeNonce(
  manager: EntityManager,
  { chain, accountId, addressKey }: ReservationOwner,
  minedNonce: number,
  txId: string,
): Promise<ReserveResult> {
  await manager.query('select 1 from accounts where account_id = $1 for no key update', [accountId]);
  const [row] = await manager.query<{ next: string }[]>(
    'select coalesce(max(ordinal) + 1, 0)::text as next from reservations where chain = $1 and owner = $2',
    [chain, addressKey],
  );
  if (!row) throw new Error(`no nonce for ${addressKey} on ${chain}`);
  if (BigInt(minedNonce) > BigInt(row.next)) {
    const reason = `${chain} reports ${minedNonce} transactions of ${addressKey}, the gateway has begun ${row.next}: is it used elsewhere?`;
    return { outcome: 'wait', reason, alert: 'account_used_elsewhere' };
  }
  await insertReservation(manager, { chain, accountId, addressKey }, txId, { resource: row.next, ordinal: BigInt(row.next) });
  return { outcome: 'reserved', resources: [row.next] };
}
