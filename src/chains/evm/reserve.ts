import type { EntityManager } from 'typeorm';
import type { ReservationOwner, ReserveResult } from '../family';
import { findReservations, insertReservation } from '../reservations';
import type { AttemptKind, AuthorisationAction, Prepared, TransactionIntent } from '../types';
import { allowancePrefix, allowanceResource } from './authorise/codec';
import { getPayment } from './codec/payment';
import { readDetails } from './details';

/** A new nonce for a first attempt; every other attempt uses the nonce of its transfer. An authorisation uses none of them. */
export async function reserveNonce(
  manager: EntityManager,
  owner: ReservationOwner,
  prepared: Prepared,
  txId: string,
  kind: AttemptKind,
  intent: TransactionIntent,
): Promise<ReserveResult> {
  if (intent.action?.type === 'authorisation') return takeAllowance(manager, owner, intent, intent.action, txId);
  if (kind === 'reissue') throw new Error('an EVM transfer has no reissue: its nonce does not expire');
  if (kind === 'first') return takeNonce(manager, owner, readDetails(prepared).minedNonce, txId);
  const held = await findReservations(manager, txId);
  return { outcome: 'reserved', resources: held.map(({ resource }) => resource) };
}

/** What a Permit2 payment relies on: as long as it is open, no other one of the account and token can. */
async function takeAllowance(
  manager: EntityManager,
  owner: ReservationOwner,
  intent: TransactionIntent,
  { method, nonce }: AuthorisationAction,
  txId: string,
): Promise<ReserveResult> {
  const token = getPayment(intent).tokenContract;
  if (method === 'eip3009' || token === null) return { outcome: 'reserved', resources: [] };
  // two at once would not see each other
  await manager.query('select 1 from accounts where account_id = $1 for no key update', [owner.accountId]);
  const [open] = await manager.query<{ tx_id: string }[]>(
    `select tx_id from reservations join transactions using (tx_id)
      where reservations.chain = $1 and owner = $2 and ordinal is null and released_at is null and starts_with(resource, $3)
        and ended_at is null limit 1`,
    [owner.chain, owner.addressKey, allowancePrefix(token)],
  );
  const reason = `The payment ${open?.tx_id} of the account, which is open, relies on what the token lets Permit2 move`;
  if (open) return { outcome: 'refused', code: 'business_error', reason };
  const resource = allowanceResource(token, BigInt(nonce));
  await insertReservation(manager, owner, txId, { resource, ordinal: null });
  return { outcome: 'reserved', resources: [resource] };
}

/**
 * Takes the account's lowest nonce without a row, above every nonce that is known to be used: by a transaction of ours that the chain has
 * included, or by others, as an operator has recorded from the chain's final count (`foreign_ordinals`). A nonce is a row and is never
 * given back, so this is called only in the database transaction that begins signing: then the rows have no gap, but for transactions
 * that an operator has accepted as missing, and one that was not executed is filled here. What the caller says about the chain
 * (`minedNonce`) chooses nothing: an account of which the chain has executed more is used by somebody else, or rows are missing, and
 * nothing is signed for it until an operator has looked. What was doubted before (`doubted_ordinals`) is not any more once a nonce is taken: a
 * caller that is answered `wait` rolls back. Concurrent calls for one account are serialised.
 */
async function takeNonce(
  manager: EntityManager,
  { chain, accountId, addressKey }: ReservationOwner,
  minedNonce: number,
  txId: string,
): Promise<ReserveResult> {
  await manager.query('select 1 from accounts where account_id = $1 for no key update', [accountId]);
  const [row] = await manager.query<{ free: string }[]>(
    `with trusted as (
       delete from doubted_ordinals where chain = $1 and owner = $2
     ), used as (
       select greatest(
         (select max(below) from foreign_ordinals where chain = $1 and owner = $2),
         (select ordinal + 1 from reservations r
           where chain = $1 and owner = $2 and ordinal is not null
             and exists (select from transfer_attempts a where a.tx_id = r.tx_id and a.block_number is not null)
           order by ordinal desc limit 1),
         0) as below)
     select (select min(nonce)
               from (select below as nonce
                     union all
                     select ordinal + 1 from reservations where chain = $1 and owner = $2 and ordinal >= below) candidates
              where not exists (select from reservations where chain = $1 and owner = $2 and ordinal = nonce))::text as free
       from used`,
    [chain, addressKey],
  );
  if (!row) throw new Error(`no nonce for ${addressKey} on ${chain}`);
  if (BigInt(minedNonce) > BigInt(row.free)) {
    const reason = `${chain} reports ${minedNonce} transactions of ${addressKey}, the gateway's next one is number ${row.free} from 0: is it used elsewhere?`;
    const doubt = { reported: BigInt(minedNonce), expected: BigInt(row.free) };
    return { outcome: 'wait', reason, alert: 'account_used_elsewhere', doubt };
  }
  await insertReservation(manager, { chain, accountId, addressKey }, txId, { resource: row.free, ordinal: BigInt(row.free) });
  return { outcome: 'reserved', resources: [row.free] };
}
