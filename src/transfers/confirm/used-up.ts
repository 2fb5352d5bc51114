import { releaseReservations } from '../../chains/reservations';
import { inTransaction } from '../../platform/database';
import { findTransactionForUpdate } from '../../transactions/state';
import type { ObserveDependencies } from '../dependencies';
import { isOrdinalUsedElsewhere, isReopened } from '../reopened';
import { observeTransfer } from './observe';

/**
 * For a reopened transaction: whether one that is none of its attempts has used up its ordinal for good, as the scanned blocks say and the chain
 * proves. Nothing of it can be executed any more: it is final again, and nothing waits behind it; with an alert, since that one is not on
 * record. What it had been charged stays: the account is frozen until an operator has looked at it.
 * @throws GatewayError chain_unavailable, not_found.
 */
export async function endIfUsedUp(deps: ObserveDependencies, txId: string): Promise<boolean> {
  const { database, logger } = deps;
  if (!(await isOrdinalUsedElsewhere(database.manager, txId))) return false;
  const { state, hash } = await observeTransfer(deps, { txId });
  if (state !== 'impossible') return false;
  return inTransaction(database, async (manager) => {
    const { chain } = await findTransactionForUpdate(manager, txId);
    if (!(await isReopened(manager, txId))) return false;
    await manager.query('update transactions set finalized_at = clock_timestamp() where tx_id = $1', [txId]);
    await releaseReservations(manager, [txId]);
    // before the commit, since nothing would say it again after a crash
    const alert = { alert: 'spent_elsewhere', tx_id: txId, chain, used_by: hash };
    logger.error(alert, 'a transaction that is not on record has used up the ordinal of a failed transfer whose block is gone');
    return true;
  });
}
