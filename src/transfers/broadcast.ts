import type { BroadcastResult } from '../messages/transfer';
import { findTransaction } from '../transactions/state';
import { loadAttempts } from './attempts';
import { type ChainDependencies, getClient } from './dependencies';
import { destinationBlacklisted } from './destination';
import { markBroadcast } from './store-attempt';

/**
 * Sends the signed bytes on record, the only thing that is ever sent: safe to repeat. What was given up, or has never been sent and
 * now goes to a blacklisted address, is not sent.
 * @throws GatewayError chain_unavailable when no node answered: whether one has taken the bytes is unknown, and they are sent again.
 */
export async function broadcastAttempt(
  steps: ChainDependencies,
  { txId, attempt }: { txId: string; attempt: number },
): Promise<BroadcastResult> {
  const { manager } = steps.database;
  const { chain } = await findTransaction(manager, txId);
  const attempts = await loadAttempts(manager, txId);
  const { kind, signed, isBroadcast, inclusion } = attempts.get(attempt);
  if (kind !== 'cancellation') {
    if (attempts.isAbandoned) return { outcome: 'withheld' };
    if (!isBroadcast && !inclusion && (await destinationBlacklisted(manager, txId))) return { outcome: 'blacklisted' };
  }
  if (!signed) return { outcome: 'unsigned', kind };
  const result = await getClient(steps, chain).broadcast(signed.bytes);
  if (result.outcome === 'rejected') return result;
  await markBroadcast(manager, txId, attempt);
  return { outcome: 'accepted', hash: signed.id };
}
