import { log } from '@temporalio/workflow';
import type { GroupKey } from '../src/messages/key-generation';
import { authoriserActivities, walletActivities } from './activities';
import { toProblem } from './failures';
import { bindOnEveryNode, confirmAgain } from './key-stages';
import type { WorkflowProgress } from './progress';

/**
 * Gives the wallet a key that was generated ahead. null: there is none, or it cannot become the wallet's; then one is to be generated.
 * Repeated in another run it is the same key.
 */
export async function bindKeyAhead(walletId: string, progress: WorkflowProgress): Promise<GroupKey | null> {
  try {
    const taken = await authoriserActivities.takeKeyAhead({ walletId });
    if (taken === null) return null;
    progress.report('confirming', `Every node must have its share of ${taken.keyId}, which was generated ahead`);
    const key = await confirmAgain(taken);
    progress.report('binding', 'Every node binds the key to the wallet');
    const attestations = await bindOnEveryNode(() => authoriserActivities.orderKeyBinding({ walletId, ...taken }));
    await walletActivities.activateWallet({ walletId, ...key, attestations });
    progress.report('active', key.publicKey);
    return key;
  } catch (error) {
    const problem = toProblem(error);
    log.warn('no key that was generated ahead is used', { walletId, code: problem.code, reason: problem.message });
    return null;
  }
}
