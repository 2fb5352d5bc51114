import { log } from '@temporalio/workflow';
import type { GroupKey } from '../src/messages/key-generation';
import { authoriserActivities, walletActivities } from './activities';
import { toProblem } from './failures';
import { bindOnEveryNode, confirmOnEveryNode, unusable } from './key-stages';
import type { WorkflowProgress } from './progress';

/**
 * Gives the wallet a key of the pool. null: there is none, or it cannot become the wallet's; then one is to be generated.
 * Repeated in another run it is the same key.
 */
export async function bindPooledKey(walletId: string, progress: WorkflowProgress): Promise<GroupKey | null> {
  try {
    const taken = await authoriserActivities.takePooledKey({ walletId });
    if (taken === null) return null;
    progress.report('confirming', `Every node must have its share of ${taken.keyId}, bound to no other wallet`);
    const { key, boundTo } = await confirmOnEveryNode(taken.keyId);
    // before any node binds it, and cannot take that back: one that was restored would bind a key that is another wallet's
    if (boundTo.some((owner) => owner !== walletId)) throw unusable(`${taken.keyId} is the key of another wallet`);
    progress.report('binding', 'Every node binds the key to the wallet');
    const attestations = await bindOnEveryNode(() => authoriserActivities.orderKeyBinding({ walletId, ...taken }));
    await walletActivities.activateWallet({ walletId, ...key, attestations });
    progress.report('active', key.publicKey);
    return key;
  } catch (error) {
    const problem = toProblem(error);
    log.warn('no key of the pool is used', { walletId, code: problem.code, reason: problem.message });
    return null;
  }
}
