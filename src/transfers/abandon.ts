import { inTransaction } from '../platform/database';
import { expiryNote, isBlacklisted } from '../screening/destinations';
import { findTransactionForUpdate, isEnded } from '../transactions/state';
import { recordCancellationReason } from './cancellation-reason';
import type { TransferDependencies } from './dependencies';
import { toDestination } from './destination';

/**
 * Records that a transfer whose signing has begun is abandoned, for families whose attempts expire and that need no cancellation:
 * from then on nothing is signed or sent for it. An ended one stays as it is.
 * @throws GatewayError not_found.
 */
export function abandonTransfer({ database }: Pick<TransferDependencies, 'database'>, { txId }: { txId: string }): Promise<void> {
  return inTransaction(database, async (manager) => {
    const transfer = await findTransactionForUpdate(manager, txId);
    if (isEnded(transfer)) return;
    if (transfer.signingBegunAt === null) throw new Error(`transfer ${txId} has no attempt that could be abandoned`);
    if (await isBlacklisted(manager, toDestination(transfer))) await recordCancellationReason(manager, transfer, expiryNote);
    await manager.query(
      `update transactions set cancellation_reason = coalesce(cancellation_reason, 'abandoned') where tx_id = $1`,
      [txId],
    );
  });
}
