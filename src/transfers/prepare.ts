import type { Prepared } from '../chains/types';
import type { NextAttempt } from '../messages/transfer';
import { toAttemptIntent } from '../transactions/intent';
import { GatewayError } from '../platform/errors';
import { findTransaction } from '../transactions/state';
import { loadAttempts } from './attempts';
import { type ChainDependencies, getClient } from './dependencies';
import { toKnownAttempt } from './known-attempt';
import { recordRefusal } from './refusals';

/**
 * Reads the facts for an attempt from the chain. An attempt that has already begun keeps its facts: its bytes are fixed, and after
 * their execution the chain would return others. That the chain refuses the first one is recorded: it ends the transfer.
 * @throws GatewayError reverted_on_chain when the chain would refuse the transfer, chain_unavailable, not_found.
 */
export async function prepareAttempt(deps: ChainDependencies, { txId, attempt, kind }: NextAttempt): Promise<Prepared> {
  const { manager } = deps.database;
  const attempts = await loadAttempts(manager, txId);
  const begun = attempts.find(attempt);
  if (begun) return begun.prepared;
  const transfer = await findTransaction(manager, txId);
  const intent = await deps.getSignedType(transfer.transactionType).loadIntent(manager, transfer);
  const next = attempts.isAbandoned ? 'cancellation' : kind;
  try {
    return await getClient(deps, transfer.chain).prepare({
      kind: next,
      intent: toAttemptIntent(intent, next),
      previous: attempts.all.map((earlier) => toKnownAttempt(intent, earlier)),
    });
  } catch (error) {
    if (next === 'first' && attempts.nextNumber === 1 && error instanceof GatewayError && !error.retryable)
      await recordRefusal(manager, { txId, attempt: 1 }, { kind: 'chain', code: error.code, reason: error.message });
    throw error;
  }
}
