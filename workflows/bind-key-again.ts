import type { NodeAnswer } from '../src/messages/journal';
import type { WalletKey } from '../src/messages/key-generation';
import { nodeIndexes } from '../src/messages/nodes';
import { authoriserActivities } from './activities';
import { askEach } from './ask-nodes';

/** Has each node bind a wallet's own key to it once more: one whose database was restored may have lost that. */
export function bindKeyAgain(input: WalletKey): Promise<NodeAnswer[]> {
  return askEach(nodeIndexes, async (node) => {
    const { order } = await authoriserActivities.orderKeyBinding(input);
    return (await node.bindKey({ order })).attestation;
  });
}
