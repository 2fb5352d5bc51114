import type { EntityManager } from 'typeorm';
import { audit } from '../../audit/log';
import { GatewayError } from '../../platform/errors';
import type { RebuiltColumns, RebuiltRow } from '../../transactions/signed-type';
import { SettlerEntity } from '../entity';
import { storeWithdrawal } from './request';

const rebuiltBy = 'reconcile';

/**
 * Stores what an operator has asked for as its order says it, after the database was restored, unless the backup has the request: then the
 * database compares it with the transaction. Who has asked, and whether for this amount or for everything, is in no order. The settler was
 * drained; whether it was resumed later is in no order either.
 * @throws GatewayError business_error when its account is of no settler.
 */
export async function rebuildRequest(manager: EntityManager, row: RebuiltRow): Promise<RebuiltColumns> {
  const { txId: withdrawalId, chain, accountId, fromAddress, toAddress, toAddressKey, amount } = row;
  const settler = await manager.findOneBy(SettlerEntity, { chain, accountId });
  if (!settler) throw new GatewayError('business_error', `the settler ${fromAddress} is not in the database`);
  const { settlerId, status, isPrimary } = settler;
  const [requested] = await manager.query<unknown[]>('select 1 from settler_withdrawals where withdrawal_id = $1', [
    withdrawalId,
  ]);
  if (requested) return {};
  if (status === 'ACTIVE') {
    await manager.update(SettlerEntity, { settlerId }, { status: 'DRAINING', isPrimary: false });
    await audit(manager, {
      ...{ action: 'settler.drained', outcome: 'success', actor: { type: 'system', id: rebuiltBy }, clientId: null },
      ...{ subject: { type: 'settler', id: settlerId }, detail: { was_primary: isPrimary, rebuilt: withdrawalId } },
    });
  }
  await storeWithdrawal(manager, { withdrawalId, settlerId, toAddress, toAddressKey, amount, operator: rebuiltBy });
  return {};
}
