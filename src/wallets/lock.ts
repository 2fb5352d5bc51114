import type { EntityManager } from 'typeorm';
import { isUuid } from '../platform/ids';
import { WalletEntity } from './entity';

/** The wallet, locked until the end of the database transaction; null for an id of no wallet, or of another client's. */
export function findWalletForUpdate(
  manager: EntityManager,
  where: { walletId: string; clientId?: string },
): Promise<WalletEntity | null> {
  if (!isUuid(where.walletId)) return Promise.resolve(null);
  return manager.findOne(WalletEntity, { where, lock: { mode: 'for_no_key_update' } });
}
