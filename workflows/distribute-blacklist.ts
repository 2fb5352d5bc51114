import { condition, continueAsNew, setHandler, sleep, workflowInfo } from '@temporalio/workflow';
import { type DistributeBlacklistWorkflowInput, blacklistChangedSignal } from '../src/messages/blacklist';
import { type NodeIndex, nodeIndexes } from '../src/messages/nodes';
import { nodeNotReady, waitsForAuthoriser, WorkflowProgress } from './progress';
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
  const seen: Record<NodeIndex, number> = { 1: 0, 2: 0, 3: 0 };
  /** Nodes for which the authoriser is asked. */
  const ordering = new Set<NodeIndex>();
  const isEverywhere = () => nodeIndexes.every((node) => seen[node] === changes);

  const report = () => {
    const behind = nodeIndexes.filter((node) => seen[node] !== changes);
    if (behind.length === 0) return progress.report('delivered', 'Every node has the last change');
    const [ordered, taking] = [true, false].map((isOrdering) =>
      behind.filter((node) => ordering.has(node) === isOrdering).join(' and '),
    );
    const advice = [
      ordered && waitsForAuthoriser(`order the changes for node ${ordered}`),
      taking && `**Waits for node ${taking}** to take the changes, and goes on by itself: start what is down, ${nodeNotReady}`,
    ];
    const detail = [ordered && `Waits for the authoriser, for node ${ordered}`, taking && `Waits for node ${taking}`];
    progress.report('delivering', detail.filter(Boolean).join('. '), 1, advice.filter(Boolean).join('. '));
  };
  const onOrdering = (node: NodeIndex, isOrdering: boolean) => {
    if (isOrdering) ordering.add(node);
    else ordering.delete(node);
    report();
  };
  const description = "From the gateway: the client's blacklist has changed. The rows say how.";
  const onChanged = () => {
    changes += 1;
    report();
  };
  setHandler(blacklistChangedSignal, onChanged, { description });

  const keepUpToDate = async (node: NodeIndex): Promise<void> => {
    while (!isEverywhere()) {
      const goal = changes;
      await bringUpToDate(node, clientId, (isOrdering) => onOrdering(node, isOrdering));
      seen[node] = goal;
      report();
      await condition(() => seen[node] < changes || isEverywhere());
    }
  };
  report();
  const all = Promise.all(nodeIndexes.map(keepUpToDate)).then(() => true);
  const isDone = await Promise.race([all, condition(() => workflowInfo().continueAsNewSuggested).then(() => false)]);
  if (!isDone) await continueAsNew<typeof distributeBlacklist>({ clientId });
}

/**
 * Until the node has the version after which there are no changes. The node's version is read first: this waits for a node that is down, so that
 * the order is not issued before the node is back. `onOrdering`: with true before the authoriser is asked, with false after it has answered.
 */
async function bringUpToDate(node: NodeIndex, clientId: string, onOrdering: (isOrdering: boolean) => void): Promise<void> {
  const { applyBlacklist, blacklistVersion } = patientNodeActivities(node);
  let { version } = await blacklistVersion({ clientId });
  for (;;) {
    onOrdering(true);
    const page = await authoriserActivities.orderBlacklistPage({ clientId, after: version });
    onOrdering(false);
    if (page === null) return;
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
