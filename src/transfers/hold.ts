import type { EntityManager } from 'typeorm';
import { findLedgerAccount, findLedgerAccountsForUpdate } from '../ledger/accounts';
import type { LedgerAccountEntity } from '../ledger/entity';
import { type Hold, placeHold } from '../ledger/entries';
import { post } from '../ledger/posting';
import { formatAmount } from '../platform/money';
import type { TransactionEntity } from '../transactions/entity';
import { refuse } from './not-begun';

export interface HeldAccounts {
  token: LedgerAccountEntity;
  /** Pays the network fee; the same row as `token` when the native coin is transferred. */
  native: LedgerAccountEntity;
}

/** Locks the ledger accounts of a transfer, in id order. Call it under the transaction's lock. */
export async function findHeldAccountsForUpdate(
  manager: EntityManager,
  { txId, accountId, assetId, chain, feeSymbol }: TransactionEntity,
): Promise<HeldAccounts> {
  const fee = accountId && feeSymbol ? await findLedgerAccount(manager, accountId, chain, feeSymbol) : null;
  if (!assetId || !fee) throw new Error(`transfer ${txId} names no ledger accounts`);
  const rows = await findLedgerAccountsForUpdate(manager, [assetId, fee.ledgerAccountId]);
  return { token: getRow(rows, assetId), native: getRow(rows, fee.ledgerAccountId) };
}

/** What an open transfer holds. */
export async function findHoldForUpdate(manager: EntityManager, transfer: TransactionEntity): Promise<Hold> {
  return { ...(await findHeldAccountsForUpdate(manager, transfer)), amount: transfer.amount, feeLocked: transfer.feeLocked };
}

/**
 * Locks more of the native coin when an attempt may cost more than is locked; atomic units. Returns the transfer as it is then.
 * @throws NotBegun fee_above_bound when the account cannot lock more.
 */
export async function raiseHold(
  manager: EntityManager,
  transfer: TransactionEntity,
  fee: bigint,
  attempt: number,
): Promise<TransactionEntity> {
  const amount = fee - transfer.feeLocked;
  if (amount <= 0n) return transfer;
  const { token, native } = await findHeldAccountsForUpdate(manager, transfer);
  if (native.frozenReason !== null || native.available < amount) refuse('fee_above_bound', feeProblem(transfer, fee));
  const entries = placeHold({ token, amount: 0n, native, feeLocked: amount });
  await post(manager, [{ txId: transfer.txId, kind: 'lock_more', seq: attempt, entries }]);
  await manager.query('update transactions set fee_locked = fee_locked + $2 where tx_id = $1', [
    transfer.txId,
    amount.toString(),
  ]);
  return { ...transfer, feeLocked: fee };
}

function feeProblem({ feeLocked, feeDecimals, feeSymbol }: TransactionEntity, fee: bigint): string {
  const display = (amount: bigint) => `${formatAmount(amount, feeDecimals ?? 0)} ${feeSymbol ?? ''}`;
  return `The network fee may reach ${display(fee)}, ${display(feeLocked)} is locked and the account cannot lock more`;
}

export function getRow(rows: Map<string, LedgerAccountEntity>, id: string): LedgerAccountEntity {
  const row = rows.get(id);
  if (!row) throw new Error(`ledger account ${id} was not locked`);
  return row;
}
