import type { EntityManager } from 'typeorm';
import type { OrderClaims } from '../../messages/order';
import type { BeginSigningResult } from '../../messages/transfer';
import { GatewayError } from '../../platform/errors';
import type { TransactionEntity } from '../../transactions/entity';
import type { SignedType } from '../../transactions/signed-type';
import type { Attempt, Attempts } from '../attempts';
import { type OrderableAttempt, rebuildAttempt } from './build-attempt';
import type { AuthoriserDependencies } from '../dependencies';
import { enterSigning } from './enter-signing';
import { assertFeeIsCovered } from './fee-rules';
import { assertMayCancel } from './may-sign';
import { refuse, refuseAbandoned, refuseExecuted } from './not-begun';
import { toOrderFacts } from './order-facts';
import { assertFewEnough } from './replacement-rules';

/** Bytes and claims are stored; the order is signed after the commit. */
export interface Stored {
  outcome: 'stored';
  attempt: OrderableAttempt;
  claims: OrderClaims;
  /** Milliseconds until the attempt is abandoned by time; null: that was known before it began, or it is not. */
  timeLeftMs: number | null;
}

/** Of what is handed out the time begins with its signing. */
export const timeLeftOf = (manager: EntityManager, type: SignedType, transfer: TransactionEntity): Promise<number | null> =>
  type.isHandedOut ? type.timeLeft(manager, transfer) : Promise.resolve(null);

/**
 * An order over the bytes of the newest attempt, which was begun before: the same one while it is good for long enough, else another. Lists and
 * approval are read again, and so is what has allowed the attempt, as far as it does not change with time: who has the authoriser's login
 * may have inserted the row. Of a transfer that is abandoned only the cancellation is signed, whatever the lists say.
 * @throws NotBegun; GatewayError invalid_parameter when nothing was begun.
 */
export async function resumeSigning(
  manager: EntityManager,
  deps: AuthoriserDependencies,
  transfer: TransactionEntity,
  attempts: Attempts,
): Promise<BeginSigningResult | Stored> {
  const { last } = attempts;
  const type = deps.getSignedType(transfer.transactionType);
  if (!last) throw new GatewayError('invalid_parameter', 'kind: there is no attempt to resume');
  if (last.signed) return { outcome: 'signed', attempt: last.attempt, kind: last.kind };
  if (attempts.inclusions.length > 0) refuseExecuted('The chain has executed an attempt: there is nothing to sign');
  const chain = deps.registry.get(transfer.chain);
  const family = deps.getFamily(chain.family);
  if (last.kind !== 'cancellation') {
    if (attempts.isAbandoned) refuseAbandoned();
    await type.assertMayContinue(manager, transfer);
  }
  await assertMayHaveBegun(manager, deps, transfer, attempts, last);
  if (transfer.status === 'NEEDS_ATTENTION') await enterSigning(manager, transfer);
  const { expiresAt } = family.describe(last.unsigned);
  if (expiresAt !== undefined && expiresAt * 1000 <= Date.now())
    refuse('expired', 'The newest attempt has expired: the chain shows what becomes of it');
  const earlier = attempts.before(last).all;
  const attempt = await rebuildAttempt(manager, deps, transfer, last);
  const facts = toOrderFacts({ chain, family, type }, transfer, attempt, earlier);
  await deps.orders.assertNoOthers(manager, facts);
  const usable = await deps.orders.findUsable(manager, facts, expiresAt);
  const claims = usable ?? (await deps.orders.issue(manager, facts, expiresAt));
  return { outcome: 'stored', attempt, claims, timeLeftMs: await timeLeftOf(manager, type, transfer) };
}

/** Facts that are still true if the attempt was begun by these rules. @throws NotBegun for one that no authoriser would have begun. */
async function assertMayHaveBegun(
  manager: EntityManager,
  deps: AuthoriserDependencies,
  transfer: TransactionEntity,
  attempts: Attempts,
  last: Attempt,
): Promise<void> {
  const before = attempts.before(last);
  const { kind, prepared } = last;
  if ((kind === 'first') !== (before.last === undefined))
    refuse('business_error', `Attempt ${last.attempt} is stored as ${kind} after ${before.all.length} others`);
  if (kind === 'reissue' && !before.allImpossible) refuse('business_error', 'An earlier attempt may still be executed');
  if (kind === 'replacement' || kind === 'cancellation') assertFewEnough(before, kind);
  if (kind === 'cancellation')
    await assertMayCancel(manager, deps.getSignedType(transfer.transactionType), transfer, attempts, deps.nodeKeys);
  const fee = BigInt(prepared.feeBound);
  await assertFeeIsCovered(manager, deps.registry.get(transfer.chain), transfer, { fee, kind });
}
