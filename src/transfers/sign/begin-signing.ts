import type { EntityManager } from 'typeorm';
import { recordDoubtedOrdinal, releaseReservations } from '../../chains/reservations';
import type { AttemptKind, Prepared } from '../../chains/types';
import { orderLifetimeSeconds } from '../../messages/order';
import type { BeginSigning, BeginSigningResult } from '../../messages/transfer';
import { GatewayError } from '../../platform/errors';
import { inTransaction } from '../../platform/database';
import { violates } from '../../platform/unique-violation';
import type { TransactionEntity } from '../../transactions/entity';
import { rulesOf, type SignedType } from '../../transactions/signed-type';
import { isEnded, findTransactionForUpdate } from '../../transactions/state';
import type { Attempts } from '../attempts';
import { loadAttempts } from '../load-attempts';
import { readBeginSigning } from './read-begin-signing';
import { buildAttempt, reserveForAttempt } from './build-attempt';
import { recordCancellationReason, recordExpiry } from '../operate/cancellation-reason';
import type { AuthoriserDependencies } from '../dependencies';
import { findParkedBefore, findUnexecutedBefore } from '../line';
import { enterSigning } from './enter-signing';
import { assertFeeIsCovered, assertFeeIsUsual } from './fee-rules';
import { assertWithinHold, raiseHold } from '../hold';
import { assertMayCancel, assertNamesOneToken } from './may-sign';
import { isReopened } from '../reopened';
import { findReissueEnd } from './last-reissue';
import { NotBegun, refuse, refuseAbandoned, refuseExecuted, refuseFollowed, waitBehind, waitInstead } from './not-begun';
import { toOrderFacts } from './order-facts';
import { recordRefusal } from '../end/refusals';
import { assertMayReplace } from './replacement-rules';
import { resumeSigning, type Stored, timeLeftOf } from './resume-signing';

const messageIsUnique = /^transfer_attempts_chain_message_key_key$/;

/** An attempt that is about to begin, under the lock of its transfer. */
interface Beginning {
  manager: EntityManager;
  deps: AuthoriserDependencies;
  transfer: TransactionEntity;
  type: SignedType;
  attempts: Attempts;
  prepared: Prepared;
}

/**
 * From this commit on, signing cannot be undone. In one database transaction everything that may forbid it is read again, the state
 * becomes SIGNING, what the attempt uses up is reserved, and the unsigned bytes and the claims of the order over them are stored.
 * From then on they count as signed, and nothing is unlocked before the chain has executed an attempt or every attempt is proven
 * impossible. The order is signed after the commit. A caller that does not know the newest attempt gets `stale` and calls `resume`
 * for it; a refusal changes nothing, and is recorded if it ends the transfer.
 */
export async function beginSigning(deps: AuthoriserDependencies, input: unknown): Promise<BeginSigningResult> {
  const request = readBeginSigning(input);
  const begun = await inTransaction(deps.database, (manager) => begin(manager, deps, request)).catch(async (error: unknown) => {
    // one of another transfer with the same bytes: next time its times differ, or what it offers
    if (violates(error, messageIsUnique))
      return { outcome: 'wait', reason: 'An attempt of this or another transfer is the same message' } as const;
    if (!(error instanceof NotBegun)) throw error;
    if (error.doubt) await recordDoubtedOrdinal(deps.database.manager, error.doubt.owner, error.doubt.count);
    await recordNotBegun(deps.database.manager, request, error.result);
    return error.result;
  });
  if (begun.outcome !== 'stored') return begun;
  const { attempt, kind, unsigned } = begun.attempt;
  const order = await deps.orders.sign(begun.claims);
  const { iat, exp } = begun.claims;
  const endsWithBytes = exp - iat < orderLifetimeSeconds;
  const { timeLeftMs } = begun;
  const expiry = { expiresAtMs: exp * 1000, ...(endsWithBytes && { endsWithBytes }), ...(timeLeftMs !== null && { timeLeftMs }) };
  return { outcome: 'begun', attempt, kind, unsigned, order, ...expiry };
}

/** Only for these kinds a refusal ends the transfer. */
const endedByRefusal: readonly BeginSigning['kind'][] = ['first', 'reissue'];

/** The database transaction that has refused is rolled back. */
async function recordNotBegun(
  manager: EntityManager,
  { txId, lastAttempt, kind }: BeginSigning,
  result: NotBegun['result'],
): Promise<void> {
  if (result.outcome !== 'refused' || !endedByRefusal.includes(kind)) return;
  // what is asked for too early ends nothing later
  if (kind === 'reissue' && !(await loadAttempts(manager, txId)).allImpossible) return;
  const { byRule = false, code, reason } = result;
  await recordRefusal(manager, { txId, attempt: lastAttempt + 1 }, { kind: byRule ? 'rule' : 'order', code, reason });
}

async function begin(
  manager: EntityManager,
  deps: AuthoriserDependencies,
  request: BeginSigning,
): Promise<BeginSigningResult | Stored> {
  const { txId, lastAttempt } = request;
  const transfer = await findTransactionForUpdate(manager, txId);
  if (!transfer.isSigned) throw new GatewayError('invalid_parameter', 'The transaction is not signed by this gateway');
  const attempts = await loadAttempts(manager, txId);
  if (isEnded(transfer) && !(await mayBeCancelled(manager, transfer, attempts, request)))
    return { outcome: 'ended', status: transfer.status };
  const { last } = attempts;
  if (last && last.attempt !== lastAttempt) return { outcome: 'stale', attempt: last.attempt, kind: last.kind };
  if (!last && lastAttempt !== 0) throw new GatewayError('invalid_parameter', 'lastAttempt: nothing of the transfer has begun');
  // a cancellation moves nothing
  if (!attempts.isAbandoned && request.kind !== 'cancellation') assertNamesOneToken(deps.registry.get(transfer.chain), transfer);
  if (request.kind === 'resume') return resumeSigning(manager, deps, transfer, attempts);

  if ((request.kind === 'first') !== (last === undefined))
    throw new GatewayError('invalid_parameter', `kind: ${request.kind} cannot follow ${lastAttempt} attempts`);
  const { family } = deps.registry.get(transfer.chain);
  const type = deps.getSignedType(transfer.transactionType);
  // its attempts are waited for until they expire, and there is no cancellation that could be signed
  if (attempts.isAbandoned && rulesOf(type, deps.getFamily(family)).abandoned === 'expiry') refuseAbandoned();
  // after a cancellation nothing else is signed
  const kind = attempts.isAbandoned ? 'cancellation' : request.kind;
  return beginByKind[kind]({ manager, deps, transfer, type, attempts, prepared: request.prepared });
}

/** What has ended is signed no more, but for the cancellation of what has failed in a block that is gone. */
async function mayBeCancelled(
  manager: EntityManager,
  { txId }: TransactionEntity,
  { last }: Attempts,
  { kind }: BeginSigning,
): Promise<boolean> {
  const isCancellation = kind === 'cancellation' || (kind === 'resume' && last?.kind === 'cancellation');
  return isCancellation && (await isReopened(manager, txId));
}

const beginByKind: Record<AttemptKind, (beginning: Beginning) => Promise<BeginSigningResult | Stored>> = {
  first: startFirstAttempt,
  replacement: replaceAttempt,
  reissue: reissueAttempt,
  cancellation: cancelAttempts,
};

async function startFirstAttempt(beginning: Beginning): Promise<BeginSigningResult | Stored> {
  await beginning.type.assertMayBegin(beginning.manager, beginning.transfer);
  return startAttempt(beginning, 'first');
}

/** The same resources at a higher fee. */
async function replaceAttempt(beginning: Beginning): Promise<BeginSigningResult | Stored> {
  const { manager, deps, transfer, type, attempts } = beginning;
  if (attempts.inclusions.length > 0) refuseExecuted('The chain has executed an attempt: there is nothing to replace');
  await type.assertMayContinue(manager, transfer);
  assertMayReplace(deps.registry.get(transfer.chain), attempts, 'replacement');
  await assertIsHead(beginning);
  return startAttempt(beginning, 'replacement');
}

/** A new transaction with its own resources, once none of the earlier attempts can be executed any more. */
async function reissueAttempt(beginning: Beginning): Promise<BeginSigningResult | Stored> {
  const { manager, transfer, type, attempts } = beginning;
  if (!attempts.allImpossible) refuse('business_error', 'An earlier attempt may still be executed');
  const end = findReissueEnd(transfer, attempts);
  if (end !== undefined) refuse('expired', end);
  await type.assertMayContinue(manager, transfer);
  await releaseReservations(manager, [transfer.txId]);
  return startAttempt(beginning, 'reissue');
}

/** The transfer is abandoned: a transaction that moves nothing uses up the resources of the earlier attempts. */
async function cancelAttempts(beginning: Beginning): Promise<BeginSigningResult | Stored> {
  const { manager, deps, transfer, type, attempts } = beginning;
  if (attempts.inclusions.length > 0) refuseExecuted('The chain has executed an attempt: it cannot be cancelled any more');
  const { isListed, isOver } = await assertMayCancel(manager, type, transfer, attempts, deps.nodeKeys);
  assertMayReplace(deps.registry.get(transfer.chain), attempts, 'cancellation');
  // the first one replaces no other: whoever has asked for it does not wait
  if (attempts.hasCancellation) await assertIsHead(beginning);
  const begun = await startAttempt(beginning, 'cancellation');
  // its end has its reason
  if (isEnded(transfer)) return begun;
  if (isListed) await recordCancellationReason(manager, transfer);
  else if (isOver) await recordExpiry(manager, transfer);
  return begun;
}

/**
 * Only the head of a sender's line is replaced at a higher fee: the chain executes nothing behind it before. What is abandoned by time, and offers
 * less than the chain takes now, does not wait for its place: one after the other, each at a higher fee and after some blocks, the last ones of a
 * line would miss the end of their time, and the house would pay for their cancellations. What offers enough waits for the one in front.
 * @throws NotBegun.
 */
async function assertIsHead({ manager, deps, transfer, type, attempts: { last }, prepared }: Beginning): Promise<void> {
  const before = await findUnexecutedBefore(manager, transfer.txId);
  if (before === undefined) return;
  const family = deps.getFamily(deps.registry.get(transfer.chain).family);
  if (last && family.isOutbid?.(last.unsigned, prepared) && (await type.timeLeft(manager, transfer)) !== null) return;
  refuseFollowed(`Transaction ${before} of the same sender is executed first`);
}

/**
 * The part that all kinds share. What is reserved may decide the fee. Lock order: the transaction is locked, reserving may lock the
 * account, raiseHold locks ledger accounts.
 */
async function startAttempt(beginning: Beginning, kind: AttemptKind): Promise<BeginSigningResult | Stored> {
  const { manager, deps, transfer, type, attempts } = beginning;
  const chain = deps.registry.get(transfer.chain);
  const family = deps.getFamily(chain.family);
  const attempt = attempts.nextNumber;
  const signer = await type.findSigner(manager, transfer);
  const intent = await type.loadIntent(manager, transfer);
  const source = { chain: chain.name, accountId: signer.accountId, addressKey: signer.addressKey };
  const isInLine = kind === 'first' && !type.isHandedOut;
  const parked = isInLine ? await findParkedBefore(manager, source) : undefined;
  if (parked !== undefined) waitBehind(parked);
  await enterSigning(manager, transfer);
  const { txId } = transfer;
  const reserved = await reserveForAttempt(manager, deps, { txId, intent, source, kind, prepared: beginning.prepared });
  const fee = BigInt(reserved.prepared.feeBound);
  const { packageFee } = reserved;
  await assertFeeIsUsual(manager, deps, { transfer, intent, attempts, source, fee, packageFee });
  if (type.feeIsFixed && kind !== 'cancellation') assertWithinHold(transfer, fee);
  if (isEnded(transfer)) await assertFeeIsCovered(manager, chain, transfer, { fee, kind });
  const raised =
    transfer.isHeld && !isEnded(transfer) ? raiseHold(manager, transfer, { fee, attempt, kind }) : Promise.resolve(transfer);
  // in the next block it does not have to pay for others any more
  const held = await (kind === 'first' && packageFee !== undefined ? raised.catch(waitInstead) : raised);
  const built = await buildAttempt(manager, deps, { transfer: held, intent, signer, attempt, kind, reserved });
  // fees have not changed since the newest attempt, which has no signature yet: signing it may succeed this time
  const { last } = attempts;
  if (last && !last.signed && last.unsigned === built.unsigned)
    return resumeSigning(manager, deps, isEnded(held) ? held : { ...held, status: 'SIGNING' }, attempts);
  // an attempt with the same bytes would be the same transaction
  if (attempts.knows(built.unsigned)) refuse('stuck', 'The fees have not risen: a replacement would be the same transaction');
  await built.store();
  const facts = toOrderFacts({ chain, family, type }, held, built, attempts.all);
  const claims = await deps.orders.issue(manager, facts, family.describe(built.unsigned).expiresAt);
  return { outcome: 'stored', attempt: built, claims, timeLeftMs: await timeLeftOf(manager, type, held) };
}
