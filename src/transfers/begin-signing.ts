import type { EntityManager } from 'typeorm';
import { releaseReservations } from '../chains/reservations';
import type { AttemptKind, Prepared } from '../chains/types';
import type { BeginSigningResult, NextAttempt } from '../messages/transfer';
import { inTransaction } from '../platform/database';
import { blacklistedReason, isBlacklisted } from '../screening/destinations';
import type { TransactionEntity } from '../transactions/entity';
import { changeState, isEnded, findTransactionForUpdate } from '../transactions/state';
import { type Attempt, type Attempts, loadAttempts } from './attempts';
import { buildAttempt } from './build-attempt';
import { recordCancellationReason } from './cancellation-reason';
import type { TransferDependencies } from './dependencies';
import { toDestination } from './destination';
import { raiseHold } from './hold';
import { NotBegun, refuse } from './not-begun';
import { toSigningRequest } from './signing-request';

/** From the first attempt on: proofs are read from blocks that every endpoint still has. */
const reissueForMs = 24 * 60 * 60 * 1000;

export type BeginSigning = NextAttempt & { prepared: Prepared };

/** An attempt that is about to begin, under the lock of its transfer. */
interface Beginning {
  manager: EntityManager;
  steps: TransferDependencies;
  transfer: TransactionEntity;
  attempts: Attempts;
  attempt: number;
  prepared: Prepared;
  isBlacklisted: boolean;
}

/**
 * From this commit on, signing cannot be undone. In one database transaction the state becomes SIGNING, what the attempt uses up is
 * reserved, and the unsigned bytes are stored. From then on they count as signed, and nothing is unlocked before the chain has
 * executed an attempt or every attempt is proven impossible. A retried call finds its attempt and returns the same bytes; a refusal
 * changes nothing.
 */
export async function beginSigning(steps: TransferDependencies, input: BeginSigning): Promise<BeginSigningResult> {
  try {
    return await inTransaction(steps.database, (manager) => begin(manager, steps, input));
  } catch (error) {
    if (error instanceof NotBegun) return error.result;
    throw error;
  }
}

async function begin(manager: EntityManager, steps: TransferDependencies, input: BeginSigning): Promise<BeginSigningResult> {
  const { txId, attempt, prepared } = input;
  const transfer = await findTransactionForUpdate(manager, txId);
  if (isEnded(transfer)) return { outcome: 'ended', status: transfer.status };
  const attempts = await loadAttempts(manager, txId);
  const earlier = attempts.find(attempt);
  if (earlier) return resume(manager, steps, transfer, earlier);

  assertIsNext(transfer, attempts, input);
  const blacklisted = await isBlacklisted(manager, toDestination(transfer));
  const beginning = { manager, steps, transfer, attempts, attempt, prepared, isBlacklisted: blacklisted };
  // after a cancellation nothing else is signed
  const kind = attempts.isAbandoned ? 'cancellation' : input.kind;
  return starters[kind](beginning);
}

const starters: Record<AttemptKind, (beginning: Beginning) => Promise<BeginSigningResult>> = {
  first: startFirstAttempt,
  replacement: replaceAttempt,
  reissue: reissueAttempt,
  cancellation: cancelAttempts,
};

function startFirstAttempt(beginning: Beginning): Promise<BeginSigningResult> {
  refuseBlacklisted(beginning);
  return startAttempt(beginning, 'first');
}

/** The same resources at a higher fee. */
function replaceAttempt(beginning: Beginning): Promise<BeginSigningResult> {
  refuseBlacklisted(beginning);
  return startAttempt(beginning, 'replacement');
}

/** A new transaction with its own resources, once none of the earlier attempts can be executed any more. */
async function reissueAttempt(beginning: Beginning): Promise<BeginSigningResult> {
  const { manager, transfer, attempts } = beginning;
  if (!attempts.allImpossible) refuse('business_error', 'An earlier attempt may still be executed');
  if (Date.now() - Number(transfer.signingBegunAt) > reissueForMs)
    refuse('expired', 'No attempt was executed within a day, and none can be executed any more');
  refuseBlacklisted(beginning);
  await releaseReservations(manager, [transfer.txId]);
  return startAttempt(beginning, 'reissue');
}

/** The transfer is abandoned: a transaction that moves nothing uses up the resources of the earlier attempts. */
async function cancelAttempts(beginning: Beginning): Promise<BeginSigningResult> {
  const { manager, transfer, attempts } = beginning;
  if (attempts.inclusions.length > 0)
    refuse('business_error', 'The chain has executed an attempt: it cannot be cancelled any more');
  const begun = await startAttempt(beginning, 'cancellation');
  if (beginning.isBlacklisted) await recordCancellationReason(manager, transfer);
  return begun;
}

/**
 * The part that all kinds share. Lock order: the transaction is locked, raiseHold locks ledger accounts, reserve may lock the
 * account.
 */
async function startAttempt(beginning: Beginning, kind: AttemptKind): Promise<BeginSigningResult> {
  const { manager, steps, transfer, attempts, attempt, prepared } = beginning;
  await enterSigning(manager, transfer);
  const held = await raiseHold(manager, transfer, BigInt(prepared.feeBound), attempt);
  const built = await buildAttempt(manager, steps, held, { attempt, kind, prepared });
  // an attempt with the same bytes would be the same transaction
  if (attempts.knows(built.unsigned)) refuse('stuck', 'The fees have not risen: a replacement would be the same transaction');
  await built.store();
  return { outcome: 'begun', attempt, request: toSigningRequest(steps.registry.get(held.chain), held, built) };
}

function assertIsNext(
  { txId, status, transactionType, isSigned }: TransactionEntity,
  attempts: Attempts,
  next: NextAttempt,
): void {
  const { attempt, kind } = next;
  if (kind === 'cancellation' && attempts.last === undefined)
    throw new Error(`transfer ${txId} has no attempt that could be cancelled`);
  const fits = attempt === attempts.nextNumber && (kind === 'first') === (attempt === 1);
  if (!isSigned || status === 'AWAITING_APPROVAL' || !fits) {
    const last = attempts.last?.attempt ?? 0;
    throw new Error(
      `attempt ${attempt} (${kind}) of ${transactionType} ${txId} cannot begin in state ${status} after ${last} attempts`,
    );
  }
}

function refuseBlacklisted(beginning: Beginning): void {
  if (beginning.isBlacklisted) refuse('address_blacklisted', blacklistedReason);
}

/** The attempt has already begun: the call is a retry, or the attempt was signed meanwhile. */
async function resume(
  manager: EntityManager,
  { registry }: TransferDependencies,
  transfer: TransactionEntity,
  attempt: Attempt,
): Promise<BeginSigningResult> {
  if (transfer.status === 'NEEDS_ATTENTION') await enterSigning(manager, transfer);
  if (attempt.signed) return { outcome: 'signed', attempt: attempt.attempt };
  const request = toSigningRequest(registry.get(transfer.chain), transfer, attempt);
  return { outcome: 'begun', attempt: attempt.attempt, request };
}

/** SIGNING for the first attempt, and for an attempt that resumes a parked transfer. */
async function enterSigning(manager: EntityManager, transfer: TransactionEntity): Promise<void> {
  const isFirst = transfer.signingBegunAt === null;
  if (!isFirst && transfer.status !== 'NEEDS_ATTENTION') return;
  await changeState(manager, transfer, 'SIGNING', {
    ...(isFirst && { signingBegunAt: () => 'clock_timestamp()' }),
    failureCode: null,
    failureMessage: null,
  });
}
