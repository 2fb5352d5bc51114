import type { EntityManager } from 'typeorm';
import type { ChainClient, PrepareRequest } from '../../chains/chain-client';
import type { Prepared } from '../../chains/types';
import type { NextAttempt } from '../../messages/transfer';
import { toAttemptIntent } from '../../transactions/intent';
import { GatewayError } from '../../platform/errors';
import type { TransactionEntity } from '../../transactions/entity';
import type { SignedType } from '../../transactions/signed-type';
import { findTransaction } from '../../transactions/state';
import { loadAttempts } from '../load-attempts';
import { type ChainDependencies, getClient } from '../dependencies';
import { findReissueEnd } from './last-reissue';
import { toKnownAttempt } from '../confirm/known-attempt';
import { recordRefusal } from '../end/refusals';

/**
 * Waits before the chain is asked again whether it would execute what somebody else's transaction has just made possible: the node that
 * simulates it may be behind the one that has shown that.
 */
const askAgainMs = [500, 1_000, 2_000, 4_000];

/**
 * Reads the facts for an attempt from the chain. An attempt that has already begun keeps its facts: its bytes are fixed, and after
 * their execution the chain would return others. That the chain refuses the first one, or one after all others are proven impossible, is
 * recorded: it ends the transfer.
 * @throws GatewayError would_revert when the chain would refuse the transfer, expired when it is tried no more, not_estimated when the chain
 * does not say why, chain_unavailable, not_found.
 */
export async function prepareAttempt(deps: ChainDependencies, { txId, attempt, kind }: NextAttempt): Promise<Prepared> {
  const { manager } = deps.database;
  const attempts = await loadAttempts(manager, txId);
  const begun = attempts.find(attempt);
  if (begun) return begun.prepared;
  const transfer = await findTransaction(manager, txId);
  const type = deps.getSignedType(transfer.transactionType);
  const intent = await type.loadIntent(manager, transfer);
  const next = attempts.isAbandoned ? 'cancellation' : kind;
  const isFirst = next === 'first' && attempts.nextNumber === 1;
  // else the chain's refusal would have it wait for ever
  const isLast = next === 'reissue' && attempts.allImpossible;
  const waits = isFirst && (await type.needsSponsoring?.(manager, transfer)) ? askAgainMs : [];
  const request = {
    kind: next,
    intent: toAttemptIntent(intent, next),
    previous: attempts.all.map((earlier) => toKnownAttempt(intent, earlier)),
  };
  try {
    const end = isLast ? findReissueEnd(transfer, attempts) : undefined;
    if (end !== undefined) throw new GatewayError('expired', end);
    return await prepareAgain(getClient(deps, transfer.chain), request, waits);
  } catch (thrown) {
    const error = isFirst ? await toExpired(manager, type, transfer, thrown) : thrown;
    if ((isFirst || isLast) && error instanceof GatewayError && !error.retryable)
      await recordRefusal(
        manager,
        { txId, attempt: attempts.nextNumber },
        { kind: 'chain', code: error.code, reason: error.message },
      );
    throw error;
  }
}

/** What has no time left is not tried again: the authoriser would not begin it. */
async function toExpired(
  manager: EntityManager,
  type: SignedType,
  transfer: TransactionEntity,
  error: unknown,
): Promise<unknown> {
  if (!(error instanceof GatewayError) || error.code !== 'not_estimated') return error;
  const timeLeft = await type.timeLeft(manager, transfer);
  return timeLeft !== null && timeLeft <= 0
    ? new GatewayError('expired', 'It could not be made in time', { cause: error })
    : error;
}

/** Once more after each of the waits, in milliseconds, while the chain would revert it. */
async function prepareAgain(client: ChainClient, request: PrepareRequest, [waitMs, ...later]: number[]): Promise<Prepared> {
  try {
    return await client.prepare(request);
  } catch (error) {
    if (waitMs === undefined || !(error instanceof GatewayError) || error.code !== 'would_revert') throw error;
  }
  await new Promise((resolve) => setTimeout(resolve, waitMs));
  return prepareAgain(client, request, later);
}
