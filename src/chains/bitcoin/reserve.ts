import type { EntityManager } from 'typeorm';
import type { ReservationOwner, ReserveResult } from '../family';
import { findHoldable, type HoldableOutput } from '../outputs';
import { findReservations, insertReservation } from '../reservations';
import type { AttemptKind, Prepared, TransactionIntent } from '../types';
import { toPayments } from './codec';
import { toScript } from './codec/address';
import type { Coin } from './codec/transaction';
import { readDetails, toPrepared } from './details';
import type { BitcoinNetwork } from './network';
import { selectCoins } from './select';

/** Outputs of an account that are looked at; the biggest ones. */
export const maxOutputs = 500;

/**
 * Inputs are chosen here, under the lock of their account: of the outputs that the follower has found and nobody holds. A later attempt
 * spends what its transfer holds already, a cancellation the first input at least, and both more where the fee needs it.
 */
export async function reserveInputs(
  network: BitcoinNetwork,
  manager: EntityManager,
  owner: ReservationOwner,
  prepared: Prepared,
  txId: string,
  kind: AttemptKind,
  intent: TransactionIntent,
): Promise<ReserveResult> {
  if (kind === 'reissue') throw new Error('a Bitcoin transfer has no reissue: its inputs do not expire');
  await manager.query('select 1 from accounts where account_id = $1 for no key update', [owner.accountId]);
  const held = (await findReservations(manager, txId)).map(({ resource }) => resource);
  const outputs = await findHoldable(manager, owner, txId, maxOutputs);
  const required = findRequired(kind === 'cancellation' ? held.slice(0, 1) : held, outputs);
  if (!required) return { outcome: 'wait', reason: 'The chain has spent what an earlier attempt of the transfer spends' };
  const { rate, outbid } = readDetails(prepared);
  const request = { script: toScript(owner.addressKey), payments: toPayments(network, intent), rate, outbid, required };
  const without = (list: HoldableOutput[]) => list.filter(({ resource }) => !required.some((coin) => coin.resource === resource));
  const selected = selectCoins(network, { ...request, available: without(outputs.filter(({ isSpendable }) => isSpendable)) });
  if (selected.outcome === 'too_many')
    return {
      outcome: 'refused',
      code: 'business_error',
      reason: 'It needs more outputs of this account than one transaction can spend',
    };
  if (selected.outcome === 'insufficient') {
    return selectCoins(network, { ...request, available: without(outputs) }).outcome === 'selected'
      ? { outcome: 'wait', reason: 'Other transfers hold outputs of this account, or these are not confirmed yet' }
      : {
          outcome: 'refused',
          code: 'insufficient_balance',
          reason: 'The outputs of this account do not suffice for amount and fee',
        };
  }
  const { coins, fee } = selected;
  for (const { resource } of coins) {
    if (!held.includes(resource)) await insertReservation(manager, owner, txId, { resource, ordinal: null });
  }
  const resources = coins.map(({ resource }) => resource);
  return { outcome: 'reserved', resources, prepared: toPrepared({ rate, outbid, selection: { coins, fee } }, fee) };
}

/** In the order in which they were reserved; null when one of them is spent or taken back. */
function findRequired(held: string[], outputs: HoldableOutput[]): Coin[] | null {
  const known = new Map(outputs.map((output) => [output.resource, output]));
  const coins = held.flatMap((resource) => known.get(resource) ?? []);
  return coins.length === held.length ? coins.map(({ resource, amount }) => ({ resource, amount })) : null;
}
