import type { AttestedGroupKey, GenerateAccountKeyInput } from '../src/messages/key-generation';
import { type NodeIndex, nodeIndexes } from '../src/messages/nodes';
import { authoriserActivities, nodeActivities, stableIndex } from './activities';
import { bindOnEveryNode, confirmOnEveryNode, signWithEveryShare } from './key-stages';
import { WorkflowProgress } from './progress';

/** A generation takes milliseconds, and a client waits for it. */
const generationSeconds = 5;

/**
 * Generates the key of one account, which a request waits for: started with a time-out for the whole run, it tries once and fails where a
 * node is missing. The nodes have bound the key and attest it when it ends; the account is made by whoever has started it. A key whose
 * binding was ordered by an earlier run is taken over: a node may have bound it already, and binds no other key to the account.
 */
export async function generateAccountKey(input: GenerateAccountKeyInput): Promise<AttestedGroupKey> {
  const { accountId, keyId, isBindingOrdered } = input;
  const wanted = { accountId, keyId };
  const progress = new WorkflowProgress();
  const first = nodeIndexes[stableIndex(accountId, nodeIndexes.length)] as NodeIndex;
  const orderKey = () => authoriserActivities.orderAccountKey(wanted);
  if (!isBindingOrdered) {
    progress.needsEveryNode('generating', `Distributed key generation of ${keyId}, initiated by node ${first}`);
    const ordered = await progress.askAuthoriser('order the key', orderKey);
    await nodeActivities(first, generationSeconds, `generate key ${keyId}`).generateKey(ordered);
  }
  progress.needsEveryNode('confirming', 'Every node must have stored its share and report the same public key');
  const { key } = await confirmOnEveryNode(progress, keyId);
  if (!isBindingOrdered) {
    progress.needsEveryNode('testing', 'Test signatures that use each share');
    await signWithEveryShare(progress, orderKey);
  }
  progress.needsEveryNode('binding', 'Every node binds the key to the account');
  return { ...key, attestations: await bindOnEveryNode(progress, () => authoriserActivities.orderAccountKeyBinding(wanted)) };
}
