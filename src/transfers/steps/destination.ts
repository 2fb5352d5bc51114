import type { EntityManager } from 'typeorm';
import { notFound } from '../../platform/errors';
import { type Destination, isBlacklisted } from '../../screening/destinations';
import { TransactionEntity } from '../../transactions/entity';

/** Where a transfer goes, as screening asks for it. */
export function destinationOf({ txId, clientId, chain, toAddressKey }: TransactionEntity): Destination {
  if (toAddressKey === null) throw new Error(`transaction ${txId} has no destination to be screened`);
  return { clientId, chain, addressKey: toAddressKey };
}

/** @throws GatewayError not_found. */
export async function destinationBlacklisted(manager: EntityManager, txId: string): Promise<boolean> {
  const transfer = await manager.findOneBy(TransactionEntity, { txId, transactionType: 'OUTBOUND' });
  if (!transfer) throw notFound('transaction');
  return isBlacklisted(manager, destinationOf(transfer));
}
