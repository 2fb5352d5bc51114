import type { ScreeningVerdict } from '../../../activities/types';
import { notFound } from '../../platform/errors';
import { TransactionEntity } from '../../transactions/entity';
import { isEnded } from '../../transactions/state';
import type { StepDependencies } from './dependencies';

/**
 * Asks every rule whether a locked transfer may be signed; changes nothing. One that has ended or begun signing is past
 * being screened: whatever comes next finds its state by itself.
 * @throws GatewayError not_found.
 */
export async function screenTransfer(
  { database, screeningRules }: StepDependencies,
  { txId }: { txId: string },
): Promise<ScreeningVerdict> {
  const transfer = await database.manager.findOneBy(TransactionEntity, { txId, transactionType: 'OUTBOUND' });
  if (!transfer) throw notFound('transaction');
  const { walletId, accountId, assetId } = transfer;
  if (!walletId || !accountId || !assetId) throw new Error(`transfer ${txId} names no account`);
  if (isEnded(transfer) || transfer.signingBegunAt !== null) return { allowed: true };
  for (const rule of screeningRules) {
    const verdict = await rule.check({ ...transfer, walletId, accountId, assetId });
    if (!verdict.allowed) return verdict;
  }
  return { allowed: true };
}
