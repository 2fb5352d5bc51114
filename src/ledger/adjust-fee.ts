import type { EntityManager } from 'typeorm';
import type { AlertLog } from './accounts';
import { postAdjustment } from './adjustments';
import { type AccountBalance, correctFee } from './entries';

/**
 * Posts that the fee of an ended transaction has become another one with its block. `more`: atomic units of the native coin, may be
 * negative. `native`: locked.
 */
export function adjustFee(
  manager: EntityManager,
  { txId, native, more }: { txId: string; native: AccountBalance; more: bigint },
  log?: AlertLog,
): Promise<void> {
  return postAdjustment(manager, txId, correctFee(native, more), log);
}
