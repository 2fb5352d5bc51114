import type { EntityManager } from 'typeorm';
import { type AlertLog, findLedgerAccountsForUpdate } from '../ledger/accounts';
import { adjustFee } from '../ledger/adjust-fee';
import { findPosted } from '../ledger/posted';
import { TransactionEntity } from '../transactions/entity';
import { gasType } from '../transactions/types';

/**
 * Corrects what a settler was charged for its settlement, which is in another block than before, or in none. Nothing is done for a
 * transaction that no settler was charged for. `fee`: of the new block, 0 while it is in none; atomic units of the native coin.
 */
export async function correctGas(
  manager: EntityManager,
  { txId: parentTxId, fee }: { txId: string; fee: bigint },
  log?: AlertLog,
): Promise<void> {
  // the columns of the index by parent
  const ofGas = { direction: 'out', isHeld: false, isSigned: false } as const;
  const gas = await manager.findOneBy(TransactionEntity, { parentTxId, transactionType: gasType, ...ofGas });
  if (!gas?.assetId) return;
  const { txId, assetId, tokenSymbol: symbol } = gas;
  const native = (await findLedgerAccountsForUpdate(manager, [assetId])).get(assetId);
  if (!native) throw new Error(`ledger account ${assetId} was not locked`);
  const { fees } = await findPosted(manager, { txId, symbol, feeSymbol: symbol });
  if (fee !== fees) await adjustFee(manager, { txId, native, more: fee - fees }, log);
}
