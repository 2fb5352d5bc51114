import { GatewayError } from '../platform/errors';
import type { TransactionEntity } from '../transactions/entity';
import { isEnded } from '../transactions/state';

/** What the commands about transfers and `gateway explain` decide by. */

/** Why a workflow that is not running is not started again; null: it is. */
export const whyNotStartedAgain = (tx: TransactionEntity): GatewayError | null =>
  !tx.isSigned || isEnded(tx)
    ? new GatewayError('business_error', `The ${tx.transactionType} transaction is ${tx.status}: there is nothing to retry`)
    : null;

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
