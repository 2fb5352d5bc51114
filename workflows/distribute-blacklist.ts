import { condition, continueAsNew, setHandler, sleep, workflowInfo } from '@temporalio/workflow';
import { type DistributeBlacklistWorkflowInput, blacklistChangedSignal } from '../src/messages/blacklist';
import { type NodeIndex, nodeIndexes } from '../src/messages/nodes';
import { WorkflowProgress } from './progress';
import { authoriserActivities, patientNodeActivities } from './activities';
import { toProblem } from './failures';

/** Until a node that has refused an order is asked again. */
const refusedWaitMs = 30_000;

/**
 * Brings a client's blacklist to every node's own copy. A node says which version it has and gets what is newer, page by page; one
 * that is down gets it when it is back, and the others do not wait for it. Ends when all have heard of the last change.
 */
export async function distributeBlacklist({ clientId }: DistributeBlacklistWorkflowInput): Promise<void> {
  const progress = new WorkflowProgress(`Blacklist of client ${clientId}`);
  // the start itself is a change: after continue-as-new every node is asked again
  let changes = 1;
  setHandler(blacklistChangedSignal, () => {
    changes += 1;
  });
  const seen: Record<NodeIndex, number> = { 1: 0, 2: 0, 3: 0 };
  const isEverywhere = () => nodeIndexes.every((node) => seen[node] === changes);

  const keepUpToDate = async (node: NodeIndex): Promise<void> => {
    while (!isEverywhere()) {
      const goal = changes;
      const version = await bringUpToDate(node, clientId);
      seen[node] = goal;
      progress.report('delivered', `Node ${node} has version ${version}`);
      await condition(() => seen[node] < changes || isEverywhere());
    }
  };
  const all = Promise.all(nodeIndexes.map(keepUpToDate)).then(() => true);
  const isDone = await Promise.race([all, condition(() => workflowInfo().continueAsNewSuggested).then(() => false)]);
  if (!isDone) await continueAsNew<typeof distributeBlacklist>({ clientId });
}

/**
 * Ends with the version that has nothing above it. The node's version is asked for first: that waits for a node that is down, and the
 * order comes after it.
 */
async function bringUpToDate(node: NodeIndex, clientId: string): Promise<number> {
  const { applyBlacklist, blacklistVersion } = patientNodeActivities(node);
  let { version } = await blacklistVersion({ clientId });
  for (;;) {
    const page = await authoriserActivities.orderBlacklistPage({ clientId, after: version });
    if (page === null) return version;
    try {
      ({ version } = await applyBlacklist(page));
    } catch (error) {
      // the node went down and the order has expired meanwhile
      if (toProblem(error).code !== 'order_refused') throw error;
      await sleep(refusedWaitMs);
      ({ version } = await blacklistVersion({ clientId }));
    }
  }
}
