import type { EntityManager } from 'typeorm';
import { tokenBySymbol } from '../chains/registry';
import type { AttemptKind, ChainDefinition, TokenDefinition } from '../chains/types';
import { findLedgerAccounts, findLedgerAccountsOfForUpdate } from '../ledger/accounts';
import type { LedgerAccountEntity } from '../ledger/entity';
import { type Hold, placeHold } from '../ledger/entries';
import { post, postAtCommit, readUncovered, type HeldBalance } from '../ledger/posting';
import { repayLosses } from '../ledger/repay-losses';
import { GatewayError } from '../platform/errors';
import { formatAmount } from '../platform/money';
import type { TransactionEntity } from '../transactions/entity';
import { refuse } from './sign/not-begun';
import type { TransferSource } from './accept/source';

export interface HeldAccounts {
  token: LedgerAccountEntity;
  /** Pays the network fee; the same row as `token` when the native coin is transferred. */
  native: LedgerAccountEntity;
}

/** Locks the ledger accounts of a transfer, in id order. Call it under the transaction's lock. */
export async function findHeldAccountsForUpdate(
  manager: EntityManager,
  { txId, accountId, assetId, chain, tokenSymbol, feeSymbol }: TransactionEntity,
): Promise<HeldAccounts> {
  const symbols = feeSymbol ? [tokenSymbol, feeSymbol] : [];
  const rows = accountId ? await findLedgerAccountsOfForUpdate(manager, { accountId, chain, symbols }) : [];
  const token = rows.find(({ ledgerAccountId }) => ledgerAccountId === assetId);
  const native = rows.find(({ symbol }) => symbol === feeSymbol);
  if (!token || !native) throw new Error(`transfer ${txId} names no ledger accounts`);
  return { token, native };
}

/** What an open transfer holds. */
export async function findHoldForUpdate(manager: EntityManager, transfer: TransactionEntity): Promise<Hold> {
  return { ...(await findHeldAccountsForUpdate(manager, transfer)), amount: transfer.amount, feeLocked: transfer.feeLocked };
}

/**
 * Losses that were paid while the transfer held what its end has unlocked: all but the fee. `transfer`: as it was before its end. Amounts in
 * atomic units.
 */
export async function repayFromHold(manager: EntityManager, transfer: TransactionEntity, fee = 0n): Promise<void> {
  const { token, native } = await findHeldAccountsForUpdate(manager, transfer);
  const { amount, feeLocked } = transfer;
  // the fee of a cancellation may be paid from the amount too
  if (native === token) return repayLosses(manager, native.ledgerAccountId, lessFee(amount + feeLocked, fee));
  await repayLosses(manager, token.ledgerAccountId, amount);
  await repayLosses(manager, native.ledgerAccountId, lessFee(feeLocked, fee));
}

const lessFee = (held: bigint, fee: bigint): bigint => (held > fee ? held - fee : 0n);

/** What is to be held for a transfer; amounts in atomic units. */
export interface NewHold {
  txId: string;
  source: Pick<TransferSource, 'asset' | 'native'>;
  amount: bigint;
  feeLocked: bigint;
}

/** Moves a new transfer's amount and fee bound from available to locked, within COMMIT, which fails if they are not available. */
export function placeTransferHold(manager: EntityManager, { txId, source, amount, feeLocked }: NewHold): Promise<void> {
  const entries = placeHold({ token: source.asset, amount, native: source.native, feeLocked });
  return postAtCommit(manager, { txId, kind: 'lock', seq: 0, entries });
}

/**
 * What a hold would take of its ledger accounts, and what they have now; the token's first, and the native coin's where it is another one. Locks
 * nothing. A ledger account that does not exist yet has nothing.
 */
export async function readHeldBalances(
  manager: EntityManager,
  { source: { asset, native }, amount, feeLocked }: Omit<NewHold, 'txId'>,
): Promise<HeldBalance[]> {
  const accounts = asset.ledgerAccountId === native.ledgerAccountId ? [asset] : [asset, native];
  const rows = await findLedgerAccounts(
    manager,
    accounts.map(({ ledgerAccountId }) => ledgerAccountId),
  );
  const taken = placeHold({ token: asset, amount, native, feeLocked }).filter(({ bucket }) => bucket === 'AVAILABLE');
  return accounts.map(({ ledgerAccountId, symbol }) => {
    const row = rows.find((it) => it.ledgerAccountId === ledgerAccountId);
    const entry = taken.find((it) => it.ledgerAccountId === ledgerAccountId);
    const isFrozen = row !== undefined && row.frozenReason !== null;
    return { symbol, available: row?.available ?? 0n, taken: -(entry?.amount ?? 0n), isFrozen };
  });
}

/** Why a COMMIT would refuse this hold (apply_hold in migrations/0007); null: it would not. */
export function explainIfUncovered(balances: HeldBalance[], request: HeldRequest): GatewayError | null {
  const held = balances.filter(({ taken }) => taken > 0n);
  const isCovered = held.every(({ available, taken, isFrozen }) => !isFrozen && available >= taken);
  return isCovered ? null : explainUncovered(held, request);
}

interface HeldRequest {
  chain: ChainDefinition;
  tokenSymbol: string;
  /** Atomic units. */
  amount: bigint;
}

/** Why a COMMIT refused the hold of a transfer: business_error for a frozen account, insufficient_balance; null for any other error. */
export function toHoldRefusal(error: unknown, request: HeldRequest): GatewayError | null {
  const accounts = readUncovered(error);
  return accounts && explainUncovered(accounts, request);
}

/** Why a hold is refused that takes this of these accounts, which do not cover it. */
function explainUncovered(accounts: HeldBalance[], { chain, tokenSymbol, amount }: HeldRequest): GatewayError {
  const { name, native } = chain;
  const frozen = accounts.find(({ isFrozen }) => isFrozen);
  if (frozen) return new GatewayError('business_error', `${frozen.symbol} on ${name} is frozen for this account`);
  const isNative = tokenSymbol === native.symbol;
  const held = accounts.find(({ symbol }) => symbol === tokenSymbol);
  if (!held || held.available < amount) {
    const token = tokenBySymbol(chain, tokenSymbol);
    const extra = held && token && toAmounts(held, token);
    return new GatewayError('insufficient_balance', `The available balance of ${tokenSymbol} on ${name} is too small`, {
      ...(extra && { extra }),
    });
  }
  const payer = accounts.find(({ symbol }) => symbol === native.symbol);
  const taken = payer?.taken ?? 0n;
  const fee = `the network fee of up to ${formatAmount(taken - (isNative ? amount : 0n), native.decimals)} ${native.symbol}`;
  const needs = isNative ? `the amount and ${fee}` : fee;
  return new GatewayError(
    'insufficient_balance',
    `The available balance of ${native.symbol} on ${name} is too small for ${needs}`,
    payer && { extra: toAmounts(payer, native) },
  );
}

/** Members of the answer, in display units. `needed`: what the transfer takes of this coin or token, its fee bound included. */
const toAmounts = ({ symbol, available, taken }: HeldBalance, { decimals }: TokenDefinition): Record<string, string> => ({
  token_symbol: symbol,
  available: formatAmount(available, decimals),
  needed: formatAmount(taken, decimals),
});

/**
 * What an attempt may cost without more being locked, atomic units of the native coin. A cancellation moves nothing: what was to be moved pays
 * for it too where it is the same coin, since it may be all that the account has.
 */
export const coveredFee = (
  { feeLocked, amount, tokenSymbol, feeSymbol }: Pick<TransactionEntity, 'feeLocked' | 'amount' | 'tokenSymbol' | 'feeSymbol'>,
  kind: AttemptKind,
): bigint => (kind === 'cancellation' && tokenSymbol === feeSymbol ? feeLocked + amount : feeLocked);

/**
 * Locks more of the native coin when an attempt may cost more than is locked for it; atomic units. Returns the transfer as it is then.
 * @throws NotBegun fee_above_bound when the account cannot lock more.
 */
export async function raiseHold(
  manager: EntityManager,
  transfer: TransactionEntity,
  { fee, attempt, kind }: { fee: bigint; attempt: number; kind: AttemptKind },
): Promise<TransactionEntity> {
  const amount = fee - coveredFee(transfer, kind);
  if (amount <= 0n) return transfer;
  const { token, native } = await findHeldAccountsForUpdate(manager, transfer);
  if (native.frozenReason !== null || native.available < amount)
    refuse('fee_above_bound', feeProblem(transfer, fee, 'the account cannot lock more'));
  const entries = placeHold({ token, amount: 0n, native, feeLocked: amount });
  await post(manager, [{ txId: transfer.txId, kind: 'lock_more', seq: attempt, entries }]);
  await manager.query('update transactions set fee_locked = fee_locked + $2 where tx_id = $1', [
    transfer.txId,
    amount.toString(),
  ]);
  return { ...transfer, feeLocked: transfer.feeLocked + amount };
}

/** @throws NotBegun fee_above_bound for a fee of which only a part is held; atomic units. */
export function assertWithinHold(transfer: TransactionEntity, fee: bigint): void {
  if (fee > transfer.feeLocked) refuse('fee_above_bound', feeProblem(transfer, fee, 'no more is paid for it'));
}

function feeProblem({ feeLocked, feeDecimals, feeSymbol }: TransactionEntity, fee: bigint, limit: string): string {
  const display = (amount: bigint) => `${formatAmount(amount, feeDecimals ?? 0)} ${feeSymbol ?? ''}`;
  return `The network fee may reach ${display(fee)}, ${display(feeLocked)} is locked and ${limit}`;
}
