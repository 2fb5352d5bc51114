import type { EntityManager } from 'typeorm';
import { notFound } from '../platform/errors';
import { type Destination, isBlacklisted } from '../screening/destinations';
import type { ScreenedTransfer } from '../screening/rules';
import { TransactionEntity } from '../transactions/entity';

/** The destination of a transfer, as screening needs it. */
export function toDestination({ txId, clientId, chain, toAddressKey }: TransactionEntity): Destination {
  if (toAddressKey === null) throw new Error(`transaction ${txId} has no destination to be screened`);
  return { clientId, chain, addressKey: toAddressKey };
}

/** The data of a transfer that screening rules need. @throws Error for a transaction without an account. */
export function toScreened(transfer: TransactionEntity): ScreenedTransfer {
  const { walletId, accountId, assetId } = transfer;
  if (!walletId || !accountId || !assetId) throw new Error(`transfer ${transfer.txId} has no account`);
  return { ...transfer, walletId, accountId, assetId };
}

/** Notes on a transfer that is sent again after its end that its destination was blacklisted in the meantime. */
export async function noteIfBlacklisted(manager: EntityManager, txId: string): Promise<void> {
  await manager.query(
    `update transactions t set screening_note = too_late(t.client_id, t.tx_id, f.activated_at)
       from security_factors f
      where t.tx_id = $1 and t.screening_note is null and f.client_id = t.client_id and f.chain = t.chain
        and f.address_key = t.to_address_key and f.factor_type = 'BLACKLIST' and f.status = 'active' and f.deleted_at is null`,
    [txId],
  );
}

/** @throws GatewayError not_found. */
export async function destinationBlacklisted(manager: EntityManager, txId: string): Promise<boolean> {
  const transfer = await manager.findOneBy(TransactionEntity, { txId, isSigned: true });
  if (!transfer) throw notFound('transaction');
  return isBlacklisted(manager, toDestination(transfer));
}
