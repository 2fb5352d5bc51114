import type { EntityManager } from 'typeorm';
import { findLedgerAccount, findLedgerAccountsForUpdate } from '../ledger/accounts';
import type { LedgerAccountEntity } from '../ledger/entity';
import type { Hold } from '../ledger/entries';
import type { TransactionEntity } from '../transactions/entity';

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

export function getRow(rows: Map<string, LedgerAccountEntity>, id: string): LedgerAccountEntity {
  const row = rows.get(id);
  if (!row) throw new Error(`ledger account ${id} was not locked`);
  return row;
}
