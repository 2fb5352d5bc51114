import type { EntityManager } from 'typeorm';
import type { ChainDefinition } from '../chains/types';
import { findLedgerAccount, findLedgerAccountsForUpdate } from '../ledger/accounts';
import type { LedgerAccountEntity } from '../ledger/entity';
import { type Hold, placeHold } from '../ledger/entries';
import { post, postIfCovered } from '../ledger/posting';
import { GatewayError } from '../platform/errors';
import { formatAmount } from '../platform/money';
import type { TransactionEntity } from '../transactions/entity';
import { refuse } from './not-begun';
import type { TransferSource } from './source';

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

/** What is to be held for a transfer; amounts in atomic units. */
export interface NewHold {
  txId: string;
  source: Pick<TransferSource, 'asset' | 'native'>;
  amount: bigint;
  feeLocked: bigint;
  chain: ChainDefinition;
}

/**
 * Moves a new transfer's amount and fee bound from available to locked, in one statement. Its ledger accounts stay locked, in id order,
 * until the end of the database transaction.
 * @throws GatewayError business_error for a frozen account, insufficient_balance.
 */
export async function placeTransferHold(
  manager: EntityManager,
  { txId, source, amount, feeLocked, chain }: NewHold,
): Promise<void> {
  const { asset, native } = source;
  const hold = { token: asset, amount, native, feeLocked };
  const { posted, accounts } = await postIfCovered(manager, { txId, kind: 'lock', seq: 0, entries: placeHold(hold) });
  if (posted) return;
  const locked = new Map(accounts.map((account) => [account.ledgerAccountId, account]));
  for (const { symbol, ledgerAccountId } of [asset, native]) {
    if (locked.get(ledgerAccountId)?.frozenReason)
      throw new GatewayError('business_error', `${symbol} on ${chain.name} is frozen for this account`);
  }
  const available = locked.get(asset.ledgerAccountId)?.available;
  if (available === undefined || available < amount)
    throw new GatewayError('insufficient_balance', `The available balance of ${asset.symbol} on ${chain.name} is too small`);
  const fee = `the network fee of up to ${formatAmount(feeLocked, chain.native.decimals)} ${native.symbol}`;
  const needs = asset.ledgerAccountId === native.ledgerAccountId ? `the amount and ${fee}` : fee;
  throw new GatewayError(
    'insufficient_balance',
    `The available balance of ${native.symbol} on ${chain.name} is too small for ${needs}`,
  );
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
