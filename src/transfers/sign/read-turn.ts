import type { TurnResult } from '../../messages/transfer';
import { findTransaction } from '../../transactions/state';
import type { TransferDependencies } from '../dependencies';
import { findParkedBefore } from '../line';

/**
 * Whether a transfer of which nothing is signed has to wait for one of the same sender that waits for an operator. The authoriser reads the
 * same before it begins. @throws GatewayError not_found.
 */
export async function readTurn(
  { database: { manager }, getSignedType }: Pick<TransferDependencies, 'database' | 'getSignedType'>,
  { txId }: { txId: string },
): Promise<TurnResult> {
  const transfer = await findTransaction(manager, txId);
  const type = getSignedType(transfer.transactionType);
  if (type.isHandedOut) return { outcome: 'free' };
  const { addressKey } = await type.findSigner(manager, transfer);
  const parked = await findParkedBefore(manager, { chain: transfer.chain, addressKey });
  return { outcome: parked === undefined ? 'free' : 'behind' };
}
