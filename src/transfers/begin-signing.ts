import type { EntityManager } from 'typeorm';
import type { AttemptKind, Hex } from '../chains/types';
import type { BeginSigningResult, PreparedFees } from '../messages/transfer';
import { placeHold } from '../ledger/entries';
import { post } from '../ledger/posting';
import { inTransaction } from '../platform/database';
import { formatAmount } from '../platform/money';
import { blacklistedReason, isBlacklisted } from '../screening/destinations';
import type { TransactionEntity } from '../transactions/entity';
import { changeState, isEnded, findTransactionForUpdate } from '../transactions/state';
import { type Attempt, findAttempt, findInclusion, insertAttempt, isKnown, isAbandoned, lastAttempt } from './attempts';
import { recordCancellationReason } from './cancellation-reason';
import type { StepDependencies } from './dependencies';
import { toDestination } from './destination';
import { findHeldAccountsForUpdate } from './hold';
import { nonceOf, takeNonce } from './nonce';
import { getAccount, toExpectedTransfer, signingRequest } from './signing-request';

export interface BeginSigning {
  txId: string;
  /** 1 for the first transaction, then one more for each replacement with the same nonce. */
  attempt: number;
  fees: PreparedFees;
  /** An operator gives the transfer up: a cancellation uses up its nonce. All attempts after one are cancellations too. */
  kind?: 'cancellation';
}

/** The attempt to be begun, its kind decided. */
type NextAttempt = Omit<BeginSigning, 'kind'> & { kind: AttemptKind };

/**
 * The point of no return. In one database transaction: the state becomes SIGNING, the nonce is taken, the unsigned bytes are
 * stored. From then on they count as signed and nothing is unlocked before the chain has spoken. A retried call finds
 * its attempt and answers with the same bytes.
 */
export function beginSigning(steps: StepDependencies, input: BeginSigning): Promise<BeginSigningResult> {
  return inTransaction(steps.database, async (manager) => {
    const transfer = await findTransactionForUpdate(manager, input.txId);
    if (isEnded(transfer)) return { outcome: 'ended', status: transfer.status };

    const earlier = await findAttempt(manager, input.txId, input.attempt);
    if (earlier) return resume(manager, steps, transfer, earlier);
    await requireNext(manager, transfer, input.attempt);
    if (input.kind === 'cancellation' && (await findInclusion(manager, input.txId))) {
      return { outcome: 'refused', code: 'business_error', reason: 'The chain has executed an attempt: the nonce is used up' };
    }

    const next = { ...input, kind: await kindOf(manager, input) };
    const blacklisted = await isBlacklisted(manager, toDestination(transfer));
    if (blacklisted && next.kind !== 'cancellation') {
      return { outcome: 'refused', code: 'address_blacklisted', reason: blacklistedReason };
    }
    const replacement = input.attempt === 1 ? null : build(steps, transfer, next, await nonceOf(manager, input.txId));
    if (replacement && (await isKnown(manager, input.txId, replacement.unsigned))) {
      return {
        outcome: 'refused',
        code: 'stuck',
        reason: 'The fees have not risen: a replacement would be the same transaction',
      };
    }
    const fee = highestFee(input.fees);
    const lacking = fee - transfer.feeLocked;
    if (lacking > 0n && !(await lockMore(manager, transfer, lacking, input.attempt))) {
      return { outcome: 'refused', code: 'fee_above_bound', reason: feeProblem(transfer, fee) };
    }
    const begun = lacking > 0n ? { ...transfer, feeLocked: fee } : transfer;
    const attempt = await begin(manager, steps, begun, next, replacement, fee);
    if (next.kind === 'cancellation' && blacklisted) await recordCancellationReason(manager, begun);
    return { outcome: 'begun', request: await signingRequest(manager, steps, begun, attempt) };
  });
}

async function requireNext(manager: EntityManager, transfer: TransactionEntity, attempt: number): Promise<void> {
  const { txId, status, transactionType } = transfer;
  const last = await lastAttempt(manager, txId);
  if (transactionType !== 'OUTBOUND' || status === 'AWAITING_APPROVAL' || attempt !== last + 1) {
    throw new Error(`attempt ${attempt} of ${transactionType} ${txId} cannot begin in state ${status} after ${last} attempts`);
  }
}

interface Built {
  nonce: number;
  unsigned: Hex;
}

function build(
  { registry, getAdapter }: StepDependencies,
  transfer: TransactionEntity,
  { kind, fees }: NextAttempt,
  nonce: number,
): Built {
  const chain = registry.get(transfer.chain);
  const unsigned = getAdapter(chain.family).build({
    chainId: chain.chainId,
    kind,
    nonce,
    from: transfer.fromAddress,
    ...toExpectedTransfer(transfer, kind),
    gasLimit: BigInt(fees.gasLimit),
    maxFeePerGas: atomic(fees.maxFeePerGas),
    maxPriorityFeePerGas: atomic(fees.maxPriorityFeePerGas),
    gasPrice: atomic(fees.gasPrice),
  });
  return { nonce, unsigned };
}

/** State, nonce and bytes. Nothing here can refuse: what could be refused was checked before. */
async function begin(
  manager: EntityManager,
  steps: StepDependencies,
  transfer: TransactionEntity,
  input: NextAttempt,
  replacement: Built | null,
  feeBound: bigint,
): Promise<Attempt> {
  const { txId, attempt, kind, fees } = input;
  const { accountId, addressKey } = await getAccount(manager, transfer);
  if (transfer.signingBegunAt === null) {
    await changeState(manager, transfer, 'SIGNING', {
      signingBegunAt: () => 'clock_timestamp()',
      failureCode: null,
      failureMessage: null,
    });
  } else {
    await unpark(manager, transfer);
  }
  const owner = { chain: transfer.chain, accountId, addressKey };
  const built = replacement ?? build(steps, transfer, input, await takeNonce(manager, owner, fees.minedNonce, txId));
  await insertAttempt(manager, { txId, attempt, kind, chain: transfer.chain, fromKey: addressKey, ...built, feeBound });
  return { attempt, kind, unsigned: built.unsigned, hash: null };
}

/** The attempt was begun before: the same request again, or its hash if it was signed meanwhile. */
async function resume(
  manager: EntityManager,
  steps: StepDependencies,
  transfer: TransactionEntity,
  attempt: Attempt,
): Promise<BeginSigningResult> {
  await unpark(manager, transfer);
  if (attempt.hash) return { outcome: 'already_signed', hash: attempt.hash };
  return { outcome: 'begun', request: await signingRequest(manager, steps, transfer, attempt) };
}

/** Out of NEEDS_ATTENTION: an operator has sent the transfer on. */
async function unpark(manager: EntityManager, transfer: TransactionEntity): Promise<void> {
  if (transfer.status !== 'NEEDS_ATTENTION') return;
  await changeState(manager, transfer, 'SIGNING', { failureCode: null, failureMessage: null });
}

/** Locks more of the native coin for a fee above the bound. False, and nothing done, when the account has not got it. */
async function lockMore(manager: EntityManager, transfer: TransactionEntity, amount: bigint, attempt: number): Promise<boolean> {
  const { token, native } = await findHeldAccountsForUpdate(manager, transfer);
  if (native.frozenReason !== null || native.available < amount) return false;
  const entries = placeHold({ token, amount: 0n, native, feeLocked: amount });
  await post(manager, [{ txId: transfer.txId, kind: 'lock_more', seq: attempt, entries }]);
  await manager.query('update transactions set fee_locked = fee_locked + $2 where tx_id = $1', [
    transfer.txId,
    amount.toString(),
  ]);
  return true;
}

/** Most the transaction can cost: gas at its highest price and the L1 data fee. */
function highestFee({ gasLimit, maxFeePerGas, gasPrice, l1DataFee }: PreparedFees): bigint {
  const price = maxFeePerGas ?? gasPrice;
  if (price === null) throw new Error('fees without a price');
  return BigInt(gasLimit) * BigInt(price) + BigInt(l1DataFee);
}

function feeProblem({ feeLocked, feeDecimals, feeSymbol }: TransactionEntity, fee: bigint): string {
  const display = (amount: bigint) => `${formatAmount(amount, feeDecimals ?? 0)} ${feeSymbol ?? ''}`;
  return `The network fee may reach ${display(fee)}, ${display(feeLocked)} is locked and the account cannot lock more`;
}

async function kindOf(manager: EntityManager, { txId, attempt, kind }: BeginSigning): Promise<AttemptKind> {
  if (attempt === 1) {
    if (kind === 'cancellation') throw new Error(`transfer ${txId} has no nonce that a cancellation could use up`);
    return 'first';
  }
  return kind ?? ((await isAbandoned(manager, txId)) ? 'cancellation' : 'replacement');
}

const atomic = (text: string | null): bigint | null => (text === null ? null : BigInt(text));
