import type { EntityManager } from 'typeorm';
import type { ReservationOwner, ReserveResult } from '../family';
import { findFeeLevels } from '../fee-levels';
import { findFree, findHeld, findUnspent } from '../outputs';
import { findReservations, insertReservation } from '../reservations';
import type { AttemptKind, Prepared, TransactionIntent } from '../types';
import { toPayments } from './codec';
import { toScript } from './codec/address';
import { maxInputs } from './codec/transaction';
import { readDetails, toPrepared } from './details';
import { toBoundRate } from './fees';
import type { BitcoinNetwork } from './network';
import { selectCoins, type SelectionResult } from './select';

/** The biggest outputs: one more than fits into a transaction. */
export const maxOutputs = maxInputs + 1;
/** Those by which it is told whether an account has too little. */
const maxJudged = 500;

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
  const wanted = kind === 'cancellation' ? held.slice(0, 1) : held;
  const own = await findHeld(manager, owner, txId);
  const [required, others] = split(own, wanted);
  if (required.length < wanted.length)
    return { outcome: 'wait', reason: 'The chain has spent what an earlier attempt of the transfer spends' };
  const { rate, outbid } = readDetails(prepared);
  const request = { script: toScript(owner.addressKey), payments: toPayments(network, intent), rate, outbid, required };
  const free = await findFree(manager, owner, maxOutputs);
  const selected = selectCoins(network, { ...request, available: [...others, ...free] });
  if (selected.outcome !== 'selected') {
    const [, available] = split(await findUnspent(manager, owner, maxJudged), wanted);
    const { outcome } = selectCoins(network, { ...request, available });
    return toRefusal(outcome, rate > toBoundRate(await findFeeLevels(manager, { name: owner.chain })));
  }
  const { coins, fee } = selected;
  for (const { resource } of coins) {
    if (!held.includes(resource)) await insertReservation(manager, owner, txId, { resource, ordinal: null });
  }
  const resources = coins.map(({ resource }) => resource);
  return { outcome: 'reserved', resources, prepared: toPrepared({ rate, outbid, selection: { coins, fee } }, fee) };
}

function split<T extends { resource: string }>(outputs: T[], resources: string[]): [T[], T[]] {
  const isNamed = ({ resource }: T) => resources.includes(resource);
  return [outputs.filter(isNamed), outputs.filter((output) => !isNamed(output))];
}

/** By what would be chosen if no other transfer held any outputs. `isDear`: the rate is above the one for which fees are locked. */
function toRefusal(outcome: SelectionResult['outcome'], isDear: boolean): ReserveResult {
  if (outcome === 'selected')
    return { outcome: 'wait', reason: 'Other transfers hold outputs of this account, or these are not confirmed yet' };
  // of a single endpoint, perhaps: it ends no transfer
  if (isDear)
    return { outcome: 'wait', reason: 'The outputs of this account do not suffice at a fee rate that is far above the usual' };
  return outcome === 'too_many'
    ? {
        outcome: 'refused',
        code: 'business_error',
        reason: 'It needs more outputs of this account than one transaction can spend',
      }
    : {
        outcome: 'refused',
        code: 'insufficient_balance',
        reason: 'The outputs of this account do not suffice for amount and fee',
      };
}
