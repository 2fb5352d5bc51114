import type { SettleResult } from '../messages/transfer';
import { freezeForShortfalls } from '../ledger/accounts';
import { settleHold } from '../ledger/entries';
import { post } from '../ledger/posting';
import { inTransaction } from '../platform/database';
import { formatAmount } from '../platform/money';
import { blacklistedReason, cancellationNote } from '../screening/destinations';
import type { TransactionEntity } from '../transactions/entity';
import { changeState, isEnded, findTransactionForUpdate } from '../transactions/state';
import { type Inclusion, loadAttempts } from './attempts';
import { park } from './park';
import type { TransferDependencies } from './dependencies';
import { findHoldForUpdate } from './hold';

/**
 * Ends an executed transfer by what the chain shows to have happened, not by what was asked for: posts the debited amount and the
 * real fee and unlocks the rest, or refunds all but the fee of a reverted one. Success without the expected movement is
 * nothing the gateway can judge: NEEDS_ATTENTION, everything stays locked. An ended transfer stays as it is.
 * WAITING when no attempt is included any more: a reorganisation has taken the inclusion back; and for the cancellation of an abandoned transfer
 * until its block is final, since after a reorganisation an earlier attempt could still take its place.
 */
export function settleTransfer(
  { database, registry, log }: TransferDependencies,
  { txId }: { txId: string },
): Promise<SettleResult> {
  return inTransaction(database, async (manager) => {
    const transfer = await findTransactionForUpdate(manager, txId);
    if (isEnded(transfer)) return ended(transfer);
    const inclusion = (await loadAttempts(manager, txId)).included;
    if (!inclusion) return { status: 'WAITING', code: null, reason: 'No attempt is included any more' };

    const { finalityDepth } = registry.get(transfer.chain);
    if (inclusion.kind === 'cancellation' && inclusion.depth < BigInt(finalityDepth)) {
      const reason = `${inclusion.hash} is final ${finalityDepth} blocks deep`;
      return { status: 'WAITING', code: null, reason };
    }

    const debited = debitedBy(transfer, inclusion);
    if (isExecuted(inclusion) && debited === 0n) {
      const reason = `${inclusion.hash} succeeded without moving ${transfer.tokenSymbol}`;
      await park(manager, transfer, 'transfer_not_observed', reason);
      return { status: 'NEEDS_ATTENTION', code: 'transfer_not_observed', reason };
    }
    const { entries, shortfalls } = settleHold(await findHoldForUpdate(manager, transfer), { debited, fee: inclusion.fee });
    const result = outcome(transfer, inclusion);
    const seq = await changeState(manager, transfer, result.status, {
      txHash: inclusion.hash,
      blockNumber: inclusion.blockNumber,
      blockHash: inclusion.blockHash,
      fee: inclusion.fee,
      failureCode: result.code,
      failureMessage: result.code && result.reason,
      // whatever was said before: nothing has moved
      ...(inclusion.kind === 'cancellation' && transfer.screeningNote !== null && { screeningNote: cancellationNote }),
    });
    await post(manager, [{ txId, kind: isExecuted(inclusion) ? 'settle' : 'refund', seq, entries }]);
    await freezeForShortfalls(manager, txId, shortfalls, log);
    return result;
  });
}

/** The chain has carried out what was asked for: neither reverted nor a cancellation in its place. */
export const isExecuted = ({ kind, success }: Inclusion): boolean => success && kind !== 'cancellation';

/** What left the account, atomic units of the token: nothing if not executed; a native coin moves with the transaction itself. */
export function debitedBy({ contractAddress, amount }: TransactionEntity, inclusion: Inclusion): bigint {
  if (!isExecuted(inclusion)) return 0n;
  return inclusion.debited ?? (contractAddress === null ? amount : 0n);
}

function outcome(
  transfer: TransactionEntity,
  { kind, success, hash, received }: Inclusion,
): SettleResult & { status: 'CONFIRMED' | 'FAILED' } {
  if (kind === 'cancellation' && transfer.cancellationReason !== null)
    return { status: 'FAILED', code: transfer.cancellationReason, reason: `${blacklistedReason}: ${hash} used up the nonce` };
  if (kind === 'cancellation')
    return { status: 'FAILED', code: 'abandoned', reason: `An operator has abandoned the transfer: ${hash} has used its nonce` };
  if (!success) return { status: 'FAILED', code: 'reverted_on_chain', reason: `${hash} was reverted on chain` };
  if (received === null || received >= transfer.amount) return { status: 'CONFIRMED', code: null, reason: null };
  const display = (amount: bigint) => formatAmount(amount, transfer.decimals);
  // a token that keeps a part for itself: what left is debited, the transfer is done
  return {
    status: 'CONFIRMED',
    code: null,
    reason: `The recipient got ${display(received)} of ${display(transfer.amount)} ${transfer.tokenSymbol}`,
  };
}

function ended({ txId, status, failureCode, failureMessage }: TransactionEntity): SettleResult {
  if (status !== 'CONFIRMED' && status !== 'FAILED') throw new Error(`transfer ${txId} is ${status}: there is nothing to settle`);
  return { status, code: failureCode, reason: failureMessage };
}
