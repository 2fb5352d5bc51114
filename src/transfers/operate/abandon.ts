import { inTransaction } from '../../platform/database';
import { expiryNote, isBlacklisted } from '../../screening/destinations';
import { rulesOf } from '../../transactions/signed-type';
import { findTransactionForUpdate, isEnded } from '../../transactions/state';
import { recordCancellationReason } from './cancellation-reason';
import type { TransferDependencies } from '../dependencies';
import { toDestination } from '../destination';
import { loadAttempts } from '../load-attempts';
import { isAbandonRequested } from './operator-requests';

type AbandonDependencies = Pick<TransferDependencies, 'database' | 'registry' | 'getFamily' | 'getSignedType'>;

/**
 * Records that a transfer whose signing has begun is abandoned, for families whose attempts expire and that need no cancellation:
 * from then on nothing is signed or sent for it. No effect on an ended one, and without a reason on record: the blacklist, an
 * operator's request, or two nodes' refusals.
 * @throws GatewayError not_found.
 */
export function abandonTransfer(deps: AbandonDependencies, { txId }: { txId: string }): Promise<void> {
  return inTransaction(deps.database, async (manager) => {
    const transfer = await findTransactionForUpdate(manager, txId);
    // the earlier reason stays
    if (isEnded(transfer) || transfer.cancellationReason !== null) return;
    if (transfer.signingBegunAt === null) throw new Error(`transfer ${txId} has no attempt that could be abandoned`);
    const family = deps.getFamily(deps.registry.get(transfer.chain).family);
    if (rulesOf(deps.getSignedType(transfer.transactionType), family).abandoned !== 'expiry')
      throw new Error(`transfer ${txId} is abandoned by a cancellation`);
    const isListed = await isBlacklisted(manager, toDestination(transfer));
    if (isListed) await recordCancellationReason(manager, transfer, expiryNote);
    else if (!(await isAbandonRequested(manager, txId, (await loadAttempts(manager, txId)).last?.attempt ?? 0))) return;
    await manager.query(
      `update transactions set cancellation_reason = coalesce(cancellation_reason, 'abandoned') where tx_id = $1`,
      [txId],
    );
  });
}
