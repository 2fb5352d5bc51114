import type { EntityManager } from 'typeorm';
import { externalIdInUse } from '../../platform/errors';
import { TransactionEntity } from '../../transactions/entity';
import type { TransferRequest } from './request';

/** Only reads. @throws GatewayError external_id_in_use when another transfer of the client has this name. */
export async function assertNameIsFree(
  manager: EntityManager,
  { clientId, externalId }: Pick<TransferRequest, 'clientId' | 'externalId'>,
): Promise<void> {
  if (externalId === null || !(await manager.existsBy(TransactionEntity, { clientId, externalId }))) return;
  throw externalIdInUse('transfer');
}
