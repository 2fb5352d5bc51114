import { continueAsNew, log, patched, workflowInfo } from '@temporalio/workflow';
import type { GenerateKeyWorkflowInput, GroupKey, WalletKey } from '../src/messages/key-generation';
import { toProblem } from './failures';
import { WorkflowProgress } from './progress';
import { authoriserActivities, walletActivities, nodeActivities } from './activities';
import { bindPooledKey } from './bind-pooled-key';
import { bindOnEveryNode, confirmOnEveryNode, generatingNode, generationSeconds, pause, signWithEveryShare } from './key-stages';

/**
 * Gives a wallet its key: one of the pool, else a new one. The wallet becomes ACTIVE only when all three nodes have stored their share
 * durably, report the same public key, have signed with it, have bound it to the wallet and have attested that. A failed generation is
 * dropped and repeated with a new key id, without a limit on time, unless another run has given the wallet a key: then there is no result,
 * and keys of this run are never used.
 */
export async function generateKey({
  walletId,
  clientId,
  attemptsBefore = 0,
}: GenerateKeyWorkflowInput): Promise<GroupKey | null> {
  const progress = new WorkflowProgress();
  // runs that began before there was a pool go on as they did
  const mayTake = attemptsBefore === 0 && patched('key-pool');
  const pooled = mayTake ? await bindPooledKey(walletId, progress) : null;
  if (pooled) return pooled;
  let failure: string | undefined;
  for (let attempt = attemptsBefore + 1; ; attempt += 1) {
    try {
      if (failure !== undefined) progress.waitsForNodes('all three', failure, { step: 'generating', attempt });
      else progress.needsEveryNode('generating', `Distributed key generation, initiated by node ${generatingNode}`, attempt);
      const wanted = { walletId, keyId: `${walletId}.${attempt}` };
      const ordered = await progress.askAuthoriser('order a new key', () => orderUnlessActive(wanted));
      if (ordered === null) {
        progress.report('ended', 'Another run has given the wallet a key', attempt);
        return null;
      }
      await nodeActivities(generatingNode, generationSeconds, `generate key, attempt ${attempt}`).generateKey(ordered);
      progress.needsEveryNode('confirming', 'Every node must have stored its share and report the same public key', attempt);
      const { key } = await confirmOnEveryNode(progress, wanted.keyId);
      progress.needsEveryNode('testing', 'Test signatures that use each share', attempt);
      await signWithEveryShare(progress, () => authoriserActivities.orderKeyGeneration(wanted));
      progress.needsEveryNode('binding', 'Every node binds the key to the wallet', attempt);
      const attestations = await bindOnEveryNode(progress, () => authoriserActivities.orderKeyBinding(wanted));
      progress.needsDatabase('activating', 'The wallet gets the key', attempt);
      await walletActivities.activateWallet({ walletId, ...key, attestations });
      progress.report('active', key.publicKey, attempt);
      return key;
    } catch (error) {
      const problem = toProblem(error);
      log.warn('key generation will be tried again', { walletId, attempt, code: problem.code, reason: problem.message });
      failure = problem.message;
      progress.waitsForNodes('all three', failure, { step: 'waiting', attempt });
      await pause(attempt - attemptsBefore);
    }
    if (workflowInfo().continueAsNewSuggested) {
      await continueAsNew<typeof generateKey>({ walletId, clientId, attemptsBefore: attempt });
    }
  }
}

/** null: the wallet has a key already. */
async function orderUnlessActive(wanted: WalletKey): Promise<{ order: string } | null> {
  try {
    return await authoriserActivities.orderKeyGeneration(wanted);
  } catch (error) {
    if (toProblem(error).code === 'business_error') return null;
    throw error;
  }
}
