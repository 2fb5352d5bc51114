import type { EntityManager } from 'typeorm';
import { findLedgerAccount, lockLedgerAccounts } from '../../ledger/accounts';
import type { LedgerAccountEntity } from '../../ledger/entity';
import type { Hold } from '../../ledger/movements';
import type { TransactionEntity } from '../../transactions/entity';

export interface HeldAccounts {
  token: LedgerAccountEntity;
  /** Pays the network fee; the same row as `token` when the native coin is transferred. */
  native: LedgerAccountEntity;
}

/** Locks the ledger accounts of a transfer, in id order. Call it under the transaction's lock. */
export async function lockHeldAccounts(
  manager: EntityManager,
  { txId, accountId, assetId, chain, feeSymbol }: TransactionEntity,
): Promise<HeldAccounts> {
  const fee = accountId && feeSymbol ? await findLedgerAccount(manager, accountId, chain, feeSymbol) : null;
  if (!assetId || !fee) throw new Error(`transfer ${txId} names no ledger accounts`);
  const rows = await lockLedgerAccounts(manager, [assetId, fee.ledgerAccountId]);
  return { token: rowOf(rows, assetId), native: rowOf(rows, fee.ledgerAccountId) };
}

/** What an open transfer holds. */
export async function lockHold(manager: EntityManager, transfer: TransactionEntity): Promise<Hold> {
  return { ...(await lockHeldAccounts(manager, transfer)), amount: transfer.amount, feeLocked: transfer.feeLocked };
}

export function rowOf(rows: Map<string, LedgerAccountEntity>, id: string): LedgerAccountEntity {
  const row = rows.get(id);
  if (!row) throw new Error(`ledger account ${id} was not locked`);
  return row;
}
