import type { NodeAnswer } from '../src/messages/journal';
import type { WalletKey } from '../src/messages/key-generation';
import { nodeIndexes } from '../src/messages/nodes';
import { authoriserActivities } from './activities';
import { askEach } from './ask-nodes';
import { nodeNotReady, waitsForAuthoriser, WorkflowProgress } from './progress';

/** Has each node bind a wallet's own key to it once more: one whose database was restored may have lost that. */
export function bindKeyAgain(input: WalletKey): Promise<NodeAnswer[]> {
  const progress = new WorkflowProgress();
  const advice = waitsForAuthoriser('order for each node that it binds the key');
  progress.report('ordering', 'The authoriser is asked', 1, advice);
  let ordered = 0;
  return askEach(nodeIndexes, async (node) => {
    const { order } = await authoriserActivities.orderKeyBinding(input);
    ordered += 1;
    if (ordered === nodeIndexes.length) {
      const asks = `**Asks each node once** to bind the key, and waits for none that is down: ${nodeNotReady}`;
      progress.report('binding', 'Each node is asked once', 1, asks);
    }
    return (await node.bindKey({ order })).attestation;
  });
}
