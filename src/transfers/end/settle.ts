import type { EntityManager } from 'typeorm';
import type { ChainDefinition } from '../../chains/types';
import { depthOfEnd, endpointsNeeded, hasNotMoved, hasNotPaid, isDone, isExecuted } from '../../following/depth';
import { type AlertLog, freezeForShortfalls } from '../../ledger/accounts';
import { settleHold } from '../../ledger/entries';
import { post } from '../../ledger/posting';
import type { SettleResult } from '../../messages/transfer';
import type { AlertName } from '../../platform/alert-names';
import { inTransaction } from '../../platform/database';
import { formatAmount } from '../../platform/money';
import { cancellationNote } from '../../screening/destinations';
import { chargeGas } from '../../settlers/charge-gas';
import type { TransactionEntity } from '../../transactions/entity';
import { changeState, isEnded, findTransactionForUpdate } from '../../transactions/state';
import type { Inclusion } from '../attempts';
import { loadAttempts, lockAttempts } from '../load-attempts';
import { reasonToStop } from '../operate/cancellation-reason';
import { park } from '../operate/park';
import type { TransferDependencies } from '../dependencies';
import { findHoldForUpdate, repayFromHold } from '../hold';
import {
  alarmTwice,
  combine,
  findCompetingAttempt,
  freezeHeld,
  isTold,
  mayBeBooked,
  noteBooked,
  toTwiceReason,
} from './executed-twice';

/**
 * Ends an executed transfer by what the chain shows to have happened, not by what was asked for: posts the debited amount and the
 * real fee and unlocks the rest, or refunds all but the fee of a reverted one, and of one that has succeeded without moving anything. A
 * settlement that has not paid all ends FAILED too. An ended transfer stays as it is.
 * WAITING when no attempt is included any more, since a reorganisation has taken the inclusion back, and until the follower has
 * scanned as many blocks as the end needs: the transfer's confirmations, finality for what was not executed or has not had its effect. That
 * every endpoint has to have shown too (agree-on-end.ts); where only one is configured, an operator is asked about what has moved nothing.
 * What was executed twice, or still may be, is parked and its account frozen; it ends by itself once all of it is final.
 */
export function settleTransfer(
  { database, registry, log }: TransferDependencies,
  { txId }: { txId: string },
): Promise<SettleResult> {
  return inTransaction(database, async (manager) => {
    const transfer = await findTransactionForUpdate(manager, txId);
    if (isEnded(transfer)) return ended(transfer);
    // the follower must not take the inclusion back before the end is committed
    await lockAttempts(manager, txId);
    const attempts = await loadAttempts(manager, txId);
    const [inclusion, ...others] = attempts.inclusions;
    if (!inclusion) return waiting('No attempt is included any more');
    const chain = registry.get(transfer.chain);
    const inclusions: [Inclusion, ...Inclusion[]] = [inclusion, ...others];
    const competing = attempts.all.length > 1 ? await findCompetingAttempt(manager, txId, inclusions) : null;
    if (others.length > 0 || competing !== null)
      return endExecutedTwice(manager, { transfer, chain, inclusions, competing }, log);

    const needed = depthOfEnd(transfer, inclusion, chain.finalityDepth);
    if (inclusion.depth < BigInt(needed)) return waiting(`${inclusion.hash} ends the transfer ${needed} blocks deep`);
    const endpoints = endpointsNeeded(transfer, inclusion);
    if (endpoints > 0 && inclusion.agreedBy === null)
      return waiting(`not every endpoint has shown the effect of ${inclusion.hash}`);
    if ((inclusion.agreedBy ?? 0) < endpoints) return parkUnproven(manager, transfer, inclusion, log);

    return end(manager, { transfer, chain, inclusion, debited: debitedBy(transfer, inclusion) }, log);
  });
}

interface Executed {
  transfer: TransactionEntity;
  chain: ChainDefinition;
  inclusion: Inclusion;
  /** Atomic units of the token. */
  debited: bigint;
}

/** State of the end, and the posting about what the transfer holds; what holds nothing has cost its settler a fee. */
async function end(
  manager: EntityManager,
  { transfer, chain, inclusion, debited }: Executed,
  log: AlertLog,
): Promise<SettleResult> {
  const { txId } = transfer;
  const { hash: txHash, blockNumber, blockHash, fee } = inclusion;
  const settled = transfer.isHeld ? settleHold(await findHoldForUpdate(manager, transfer), { debited, fee }) : null;
  const result = outcome(transfer, inclusion);
  if (isExecuted(inclusion) && !isDone(transfer, inclusion)) {
    const alert: AlertName = transfer.isHeld ? 'transfer_not_observed' : 'settlement_not_paid';
    log.error({ alert, tx_id: txId, chain: chain.name, symbol: transfer.tokenSymbol }, result.reason ?? '');
  }
  const seq = await changeState(manager, transfer, result.status, {
    txHash,
    blockNumber,
    blockHash,
    fee,
    failureCode: result.code,
    failureMessage: result.code && result.reason,
    // in place of what the note said before: nothing has moved
    ...(inclusion.kind === 'cancellation' && transfer.screeningNote !== null && { screeningNote: cancellationNote }),
  });
  if (settled) {
    const isRefund = !isDone(transfer, inclusion);
    const kind = isRefund ? 'refund' : 'settle';
    await post(manager, [{ txId, kind, seq, entries: settled.entries }]);
    await freezeForShortfalls(manager, txId, settled.shortfalls, log);
    if (isRefund) await repayFromHold(manager, transfer, fee);
  } else await chargeGas(manager, { settlement: transfer, chain, fee }, log);
  return result;
}

/**
 * What left the payer, atomic units of the token: nothing if not executed; a native coin moves with the transaction itself, and what the
 * recipient alone is shown to have got has left the payer too.
 */
export function debitedBy({ contractAddress, amount }: TransactionEntity, inclusion: Inclusion): bigint {
  if (!isExecuted(inclusion)) return 0n;
  const debited = inclusion.debited ?? (contractAddress === null ? amount : 0n);
  return debited > 0n ? debited : (inclusion.received ?? 0n);
}

function outcome(transfer: TransactionEntity, inclusion: Inclusion): SettleResult & { status: 'CONFIRMED' | 'FAILED' } {
  const { kind, success, hash, received } = inclusion;
  if (kind === 'cancellation') {
    const { code, reason } = reasonToStop(transfer) ?? { code: 'abandoned', reason: 'An operator has abandoned the transfer' };
    return { status: 'FAILED', code, reason: `${reason}: cancelled by ${hash}` };
  }
  if (hasNotMoved(transfer, inclusion)) {
    const reason = `${hash} succeeded without moving ${transfer.tokenSymbol}`;
    return { status: 'FAILED', code: 'transfer_not_observed', reason };
  }
  if (!success) return { status: 'FAILED', code: 'reverted_on_chain', reason: `${hash} was reverted on chain` };
  const display = (amount: bigint) => formatAmount(amount, transfer.decimals);
  const shortfall = `The recipient got ${display(received ?? 0n)} of ${display(transfer.amount)} ${transfer.tokenSymbol}`;
  if (hasNotPaid(transfer, inclusion))
    return { status: 'FAILED', code: 'transfer_not_observed', reason: `${hash}: ${shortfall}` };
  if (received === null || received >= transfer.amount) return { status: 'CONFIRMED', code: null, reason: null };
  // a token that keeps a part for itself: what left is debited, the transfer is done
  return { status: 'CONFIRMED', code: null, reason: shortfall };
}

interface ExecutedTwice extends Pick<Executed, 'transfer' | 'chain'> {
  inclusions: [Inclusion, ...Inclusion[]];
  /** An attempt that may be executed beside them. */
  competing: number | null;
}

type ParkLog = TransferDependencies['log'];

const waiting = (reason: string): SettleResult => ({ status: 'WAITING', code: null, reason });

/** One endpoint may have left out what has moved, and nothing says whether it has. */
async function parkUnproven(
  manager: EntityManager,
  transfer: TransactionEntity,
  { hash }: Inclusion,
  log: ParkLog,
): Promise<SettleResult> {
  const code = 'transfer_not_observed';
  const reason = `${hash} succeeded without moving ${transfer.tokenSymbol}, as the only endpoint shows: a second one has to show it too`;
  await park(manager, transfer, { code, reason }, log);
  return { status: 'NEEDS_ATTENTION', code, reason };
}

/**
 * Money may have moved twice: a proof of impossibility was false. The first time it is parked and its account frozen, and an operator is told.
 * The next call (the follower's next signal, or a retry) books all of it as the chain shows it, once it is final and nothing else of the transfer
 * may be executed, whatever it takes, since it has left: there is nothing to decide about that. What an operator has to examine is why.
 */
async function endExecutedTwice(
  manager: EntityManager,
  { transfer, chain, inclusions, competing }: ExecutedTwice,
  log: ParkLog & AlertLog,
): Promise<SettleResult> {
  if (competing === null && mayBeBooked(transfer, inclusions, chain)) {
    const named = combine(transfer, inclusions);
    const debited = inclusions.reduce((sum, one) => sum + debitedBy(transfer, one), 0n);
    const result = await end(manager, { transfer, chain, inclusion: named, debited }, log);
    await noteBooked(manager, transfer, { named, inclusions }, log);
    return result;
  }
  const reason = toTwiceReason(inclusions, competing);
  // the follower has one that waits for another attempt tried again and again
  if (!isTold(transfer, reason)) alarmTwice(log, transfer, reason);
  const code = 'internal_error';
  await freezeHeld(manager, transfer);
  await park(manager, transfer, { code, reason }, log);
  return { status: 'NEEDS_ATTENTION', code, reason };
}

function ended({ txId, status, failureCode, failureMessage }: TransactionEntity): SettleResult {
  if (status !== 'CONFIRMED' && status !== 'FAILED') throw new Error(`transfer ${txId} is ${status}: there is nothing to settle`);
  return { status, code: failureCode, reason: failureMessage };
}
