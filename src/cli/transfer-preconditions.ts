import { GatewayError } from '../platform/errors';
import type { TransactionEntity } from '../transactions/entity';
import { isEnded } from '../transactions/state';

/** What the commands about transfers and `gateway explain` decide by. */

/**
 * Why a workflow that is not running is not started again; null: it is. `redo`: the transfer that stands in its place. Both are there where the
 * database was restored: the backup is older than the end of this one, and of the other one the nodes have told.
 */
export function whyNotStartedAgain(tx: TransactionEntity, redo: Pick<TransactionEntity, 'txId'> | null): GatewayError | null {
  if (!tx.isSigned || isEnded(tx))
    return new GatewayError('business_error', `The ${tx.transactionType} transaction is ${tx.status}: there is nothing to retry`);
  if (redo && tx.signingBegunAt === null)
    return new GatewayError(
      'business_error',
      `Transaction ${redo.txId} was made in place of this one, which would pay a second time: its client cancels it`,
    );
  return null;
}

/** Why nothing asks the workflow to abandon the transaction; null: it is asked, and decides. */
export function whyNotAbandoned(
  tx: TransactionEntity,
  { isExecuted, isRunning }: { isExecuted: boolean; isRunning: boolean },
): GatewayError | null {
  if (isExecuted) return new GatewayError('business_error', 'The chain has already executed an attempt of the transfer');
  if (isRunning) return null;
  const advice = 'if it has not ended, start it again with retry first';
  return new GatewayError('business_error', `The transaction is ${tx.status} and its workflow is not running: ${advice}`);
}
