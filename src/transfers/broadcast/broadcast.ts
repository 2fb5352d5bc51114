import type { BroadcastResult } from '../../messages/transfer';
import { findTransaction } from '../../transactions/state';
import { loadAttempts } from '../load-attempts';
import { type ChainDependencies, getClient } from '../dependencies';
import { destinationBlacklisted } from '../destination';
import { sendAttempt } from './send-attempt';
import { markBroadcast } from '../sign/store-attempt';

/**
 * Sends the stored signed bytes, the only thing that is ever sent: safe to repeat. What is handed out is there for its client from now
 * on. An abandoned transfer is not sent, nor one that has never been sent and whose destination is blacklisted.
 * @throws GatewayError chain_unavailable when no node responded: a node may have accepted the bytes, and they are sent again.
 */
export async function broadcastAttempt(
  deps: ChainDependencies,
  { txId, attempt }: { txId: string; attempt: number },
): Promise<BroadcastResult> {
  const { manager } = deps.database;
  const { chain, transactionType } = await findTransaction(manager, txId);
  const attempts = await loadAttempts(manager, txId);
  const { kind, signed, isBroadcast, inclusion } = attempts.get(attempt);
  if (kind !== 'cancellation') {
    if (attempts.isAbandoned) return { outcome: 'withheld' };
    if (!isBroadcast && !inclusion && (await destinationBlacklisted(manager, txId))) return { outcome: 'blacklisted' };
  }
  if (!signed) return { outcome: 'unsigned', kind };
  const { isHandedOut } = deps.getSignedType(transactionType);
  const result = isHandedOut
    ? ({ outcome: 'accepted' } as const)
    : await sendAttempt(manager, getClient(deps, chain), txId, { attempt, signed });
  if (result.outcome !== 'accepted') return result;
  await markBroadcast(manager, txId, attempt);
  return { outcome: 'accepted', hash: signed.id };
}
