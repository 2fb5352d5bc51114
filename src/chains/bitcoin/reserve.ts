import type { EntityManager } from 'typeorm';
import type { ReservationOwner, ReserveResult } from '../family';
import { findFeeLevels } from '../fee-levels';
import { findFree, findHeld, findUnspent, isBehind } from '../outputs';
import { findReservations, insertReservation } from '../reservations';
import { findUnconfirmed, hasDescendant, type UnconfirmedTransaction } from '../unconfirmed';
import type { AttemptKind, Prepared, TransactionIntent } from '../types';
import { toPayments } from './codec';
import { toScript } from './codec/address';
import { type Coin, maxInputs } from './codec/transaction';
import { readDetails, toPrepared } from './details';
import { toBoundRate } from './fees';
import type { BitcoinNetwork } from './network';
import { feesOf, toPackage, UnconfirmedTransactions } from './package';
import { selectCoins, type SelectionRequest, type SelectionResult } from './select';

/** The biggest outputs: one more than fits into a transaction. */
export const maxOutputs = maxInputs + 1;
/** Those by which it is told whether an account has too little. */
const maxJudged = 500;

/**
 * Inputs are chosen here, under the lock of their account: of the outputs that the follower has found and nobody holds, and for a first
 * attempt of change that a node has in its pool. A later attempt spends what its transfer holds already, a cancellation the first input at
 * least, and both more where the fee needs it.
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
    return { outcome: 'follow', reason: 'What an earlier attempt spends is spent, or is not on the chain any more' };
  if (kind !== 'first' && (await hasDescendant(manager, txId))) return toDescendantRefusal(kind);
  const { rate, current, outbid } = readDetails(prepared);
  const request = { script: toScript(owner.addressKey), payments: toPayments(network, intent), rate, outbid, required };
  const free = await findFree(manager, owner, maxOutputs);
  const unconfirmed = new UnconfirmedTransactions(await findUnconfirmed(manager, owner));
  const { selected, ancestors } = selectWithAncestors(network, unconfirmed, {
    request: { ...request, available: [...others, ...free] },
    parents: unconfirmed.parentsOf(txId),
    mayAdd: kind === 'first',
    current,
  });
  if (selected.outcome !== 'selected') {
    const [, available] = split(await findUnspent(manager, owner, maxJudged), wanted);
    const { outcome } = selectCoins(network, { ...request, available });
    if (outcome === 'insufficient' && (await isBehind(manager, owner.chain)))
      return { outcome: 'wait', reason: 'Blocks of the chain are being read, which may hold outputs of this account' };
    return toRefusal(outcome, rate > toBoundRate(await findFeeLevels(manager, { name: owner.chain })));
  }
  const { coins, fee } = selected;
  for (const { resource } of coins) {
    if (!held.includes(resource)) await insertReservation(manager, owner, txId, { resource, ordinal: null });
  }
  const resources = coins.map(({ resource }) => resource);
  const details = { rate, current, outbid, selection: { coins, fee } };
  const packageFee = ancestors.length > 0 ? { packageFee: fee + feesOf(ancestors) } : {};
  return { outcome: 'reserved', resources, prepared: toPrepared(details, fee), ...packageFee };
}

/** Another attempt in its place would remove what spends its change: that pays for it. */
const toDescendantRefusal = (kind: AttemptKind): ReserveResult =>
  kind === 'cancellation'
    ? {
        outcome: 'refused',
        code: 'not_cancellable',
        reason: 'Another transfer of the account spends its change: that one has to be abandoned before',
      }
    : { outcome: 'follow', reason: 'Another transfer of the account spends its change, and pays for both' };

interface ChainedRequest {
  request: SelectionRequest;
  /** Transactions in no block whose change is spent in any case. */
  parents: string[];
  /** Further change in no block may be added: a replacement must not (BIP-125). */
  mayAdd: boolean;
  /** Satoshis per virtual byte that all of them are to pay together. */
  current: bigint;
}

/** Most outputs in no block that one transaction adds. */
const maxAdded = 4;

/** Outputs in blocks as far as these suffice; else with as little change of transactions in no block as does. */
function selectWithAncestors(
  network: BitcoinNetwork,
  unconfirmed: UnconfirmedTransactions,
  { request, parents, mayAdd, current }: ChainedRequest,
): { selected: SelectionResult; ancestors: UnconfirmedTransaction[] } {
  const select = (added: (Coin & { maker: string })[]) => {
    const makers = [...new Set([...parents, ...added.map(({ maker }) => maker)])];
    const ancestors = unconfirmed.ancestors(makers);
    const required = [...request.required, ...added.map(({ resource, amount }) => ({ resource, amount }))];
    const selected = selectCoins(network, { ...request, required, package: toPackage(ancestors, current) });
    const isTaken = selected.outcome === 'selected' && (added.length === 0 || unconfirmed.hasRoom(makers, selected.size));
    return { isTaken, selected, ancestors };
  };
  const confirmed = select([]);
  if (confirmed.isTaken || !mayAdd) return confirmed;
  const spendable = unconfirmed.spendable.slice(0, maxAdded);
  for (let count = 1; count <= spendable.length; count += 1) {
    const chained = select(spendable.slice(0, count));
    if (chained.isTaken) return chained;
  }
  return confirmed;
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
