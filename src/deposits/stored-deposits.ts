import type { EntityManager } from 'typeorm';
import type { LedgerAccountEntity } from '../ledger/entity';

/** Deposits per statement; the rest is left to the next call or round. */
export const batchSize = 500;

export interface StoredDeposit {
  tx_id: string;
  asset_id: string;
  status: 'DETECTED' | 'CONFIRMED';
  version: number;
  amount: string;
}

export async function moveAll(
  manager: EntityManager,
  deposits: StoredDeposit[],
  status: 'CONFIRMED' | 'ORPHANED',
): Promise<void> {
  await manager.query('update transactions set status = $2, version = version + 1 where tx_id = any($1::uuid[])', [
    deposits.map((it) => it.tx_id),
    status,
  ]);
}

/** @throws Error when the deposit's ledger account is not among those that were locked. */
export function getToken(tokens: Map<string, LedgerAccountEntity>, { tx_id, asset_id }: StoredDeposit): LedgerAccountEntity {
  const token = tokens.get(asset_id);
  if (!token) throw new Error(`the ledger account of deposit ${tx_id} was not locked`);
  return token;
}
