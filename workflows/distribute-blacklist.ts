import { condition, continueAsNew, setHandler, sleep, workflowInfo } from '@temporalio/workflow';
import { type DistributeBlacklistWorkflowInput, blacklistChangedSignal } from '../src/messages/blacklist';
import { type NodeIndex, nodeIndexes } from '../src/messages/nodes';
import { WorkflowProgress } from './progress';
import { authoriserActivities, patientNodeActivities } from './activities';
import { toProblem } from './failures';

/** Wait after a node has refused an order. */
const refusedWaitMs = 30_000;

/**
 * Updates every node's own copy of a client's blacklist. A node returns the version of its copy and gets newer changes page by
 * page; a node that is down gets them when it is back, and the others do not wait for it. Ends when all nodes have the last change.
 */
export async function distributeBlacklist({ clientId }: DistributeBlacklistWorkflowInput): Promise<void> {
  const progress = new WorkflowProgress();
  // the start counts as a change: after continue-as-new every node is asked again
  let changes = 1;
  const description = "From the gateway: the client's blacklist has changed. The rows say how.";
  const onChanged = () => {
    changes += 1;
  };
  setHandler(blacklistChangedSignal, onChanged, { description });
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
 * Returns the version after which there are no changes. The node's version is read first: this waits for a node that is down, so that
 * the order is not issued before the node is back.
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
      // the order expired while the node was down
      if (toProblem(error).code !== 'order_refused') throw error;
      await sleep(refusedWaitMs, { summary: 'the node has refused the page: then a new one is ordered' });
      ({ version } = await blacklistVersion({ clientId }));
    }
  }
}
