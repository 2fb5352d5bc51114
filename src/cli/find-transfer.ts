import type { EntityManager } from 'typeorm';
import { GatewayError, notFound } from '../platform/errors';
import { isUuid } from '../platform/ids';
import { findUnmade } from '../settlers/withdrawals/request';
import { TransactionEntity } from '../transactions/entity';

/** @throws GatewayError not_found; business_error for a withdrawal from a settler that has no transaction. */
export async function findTransfer(manager: EntityManager, txId: string): Promise<TransactionEntity> {
  const tx = isUuid(txId) ? await manager.findOneBy(TransactionEntity, { txId }) : null;
  if (tx) return tx;
  if (await findUnmade(manager, txId))
    throw new GatewayError('business_error', `The withdrawal has no transaction: \`gateway explain ${txId}\` says why`);
  throw notFound(`transaction ${txId}`);
}
