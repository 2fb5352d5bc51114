import { log, workflowInfo } from '@temporalio/workflow';
import type { GroupKey } from '../src/messages/key-generation';
import { authoriserActivities, walletActivities } from './activities';
import { toProblem } from './failures';
import { bindOnEveryNode, confirmOnEveryNode, pause, unusable } from './key-stages';
import type { WorkflowProgress } from './progress';

/**
 * Gives the wallet a key of the pool. null: there is none, or it is refused; then one is to be generated. While a node is down the same key is
 * tried again, about two hours long: no key could be generated meanwhile either. Repeated in another run it is the same key.
 */
export async function bindPooledKey(walletId: string, progress: WorkflowProgress): Promise<GroupKey | null> {
  let failure: string | undefined;
  for (let round = 1; ; round += 1) {
    try {
      return await takeAndBind(walletId, progress, failure);
    } catch (error) {
      const problem = toProblem(error);
      if (!problem.retryable || workflowInfo().continueAsNewSuggested) {
        log.warn('no key of the pool is used', { walletId, code: problem.code, reason: problem.message });
        return null;
      }
      failure = problem.message;
      progress.waitsForNodes('all three', failure, { step: 'waiting', attempt: round });
      await pause(round);
    }
  }
}

/** `failure`: of the round before. */
async function takeAndBind(walletId: string, progress: WorkflowProgress, failure: string | undefined): Promise<GroupKey | null> {
  const taken = await progress.askAuthoriser('give the wallet a key of the pool', () =>
    authoriserActivities.takePooledKey({ walletId }),
  );
  if (taken === null) return null;
  if (failure !== undefined) progress.waitsForNodes('all three', failure, { step: 'confirming', attempt: 1 });
  else progress.needsEveryNode('confirming', `Every node must have its share of ${taken.keyId}, bound to no other wallet`);
  const { key, boundTo } = await confirmOnEveryNode(progress, taken.keyId, 1);
  // before any node binds it, and cannot take that back: one that was restored would bind a key that is another wallet's
  if (boundTo.some((owner) => owner !== walletId)) throw unusable(`${taken.keyId} is the key of another wallet`);
  progress.needsEveryNode('binding', 'Every node binds the key to the wallet');
  const attestations = await bindOnEveryNode(progress, () => authoriserActivities.orderKeyBinding({ walletId, ...taken }));
  progress.needsDatabase('activating', 'The wallet gets the key');
  await walletActivities.activateWallet({ walletId, ...key, attestations });
  progress.report('active', key.publicKey);
  return key;
}
