import { condition, log } from '@temporalio/workflow';
import { nodeActivities, signingPairs, stableIndex, transferActivities } from '../activities';
import { toProblem } from '../failures';
import { type Next, park } from './next';
import type { TransferState } from './state';

/** Pairs that are tried before an operator is asked: about an hour with the waits below. */
const signingRounds = 120;
const signatureSeconds = 15;
const longestWaitMs = 30_000;

/**
 * One activity per try, on the queue of the initiating node. A node that is down or an aborted session is followed by a new session
 * with another pair. A node's refusal of the transaction itself is for an operator: trying other nodes would mean asking until two
 * agree. The blacklist is the exception: a first attempt is abandoned at once if its destination is listed in Postgres too;
 * otherwise the node's copy is about to be corrected and another try is made.
 */
export async function sign(state: TransferState, stage: Extract<Next, { next: 'sign' }>): Promise<Next> {
  const { attempt, kind, request } = stage;
  const { txId, progress } = state;
  if (attempt === 1) progress.status('SIGNING');
  const first = stableIndex(txId, signingPairs.length);
  for (let round = 0; !state.sawInclusion; round += 1) {
    const pair = signingPairs[(first + round) % signingPairs.length];
    if (!pair) throw new Error('no signing pair');
    const { initiator, peer } = pair;
    progress.report('sign', `Nodes ${initiator} and ${peer}`, round + 1);
    try {
      const summary = `sign attempt ${attempt}: nodes ${initiator} and ${peer}`;
      const { signatures } = await nodeActivities(initiator, signatureSeconds, summary).signTransaction({ ...request, peer });
      await transferActivities.recordSigned({ txId, attempt, signatures });
      return { next: 'broadcast', attempt, tries: 1 };
    } catch (error) {
      const { code, message, retryable } = toProblem(error);
      log.warn('no signature from this pair', { txId, initiator, peer, code, reason: message });
      const byBlacklist = code === 'address_blacklisted';
      const isListed = byBlacklist && (await transferActivities.destinationBlacklisted({ txId }));
      if (isListed && kind === 'first') return { next: 'abandon' };
      // a node that returns an invalid signature is treated like one that is down
      const triesElsewhere = retryable || code === 'invalid_signature' || (byBlacklist && !isListed);
      if (!triesElsewhere || round >= signingRounds) {
        return park(retryable ? 'signers_unavailable' : code, message, stage);
      }
      if (round % signingPairs.length === signingPairs.length - 1) {
        progress.report('sign', `Waiting for two signing nodes: ${message}`, round + 1);
        const waitMs = Math.min(1000 * 2 ** Math.floor(round / signingPairs.length), longestWaitMs);
        await condition(() => state.sawInclusion, waitMs);
      }
    }
  }
  // an earlier attempt was executed: no other is needed
  return { next: 'confirm' };
}
