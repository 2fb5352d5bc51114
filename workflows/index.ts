import { setWorkflowOptions, workflowInfo } from '@temporalio/workflow';
import { bindKeyAgain } from './bind-key-again';
import { generateAccountKey } from './generate-account-key';
import { readJournals } from './read-journals';
import { readOrders } from './read-orders';

export { cancelReopened } from './cancel-reopened';
export { deliverWebhooks } from './deliver-webhooks';
export { distributeBlacklist } from './distribute-blacklist';
export { followChain } from './follow-chain';
export { generateKey } from './generate-key';
export { fillKeyPool } from './fill-key-pool';
export { transfer } from './transfer/index';
export { bindKeyAgain, generateAccountKey, readJournals, readOrders };

/**
 * Where workers have versions, runs of these end on the build on which they began: somebody waits for them for some seconds, they have a time
 * limit and try once, so that the workers of an old build are needed for no longer than that. All others move to the current build, since
 * they live for minutes to years, or wait for a node that is down (src/processes/worker-version.ts).
 */
const pinned: ((...input: never[]) => Promise<unknown>)[] = [bindKeyAgain, generateAccountKey, readJournals, readOrders];
// Temporal refuses what a worker without a version says about versions
const options = () =>
  workflowInfo().currentDeploymentVersion?.deploymentName ? ({ versioningBehavior: 'PINNED' } as const) : {};
for (const workflow of pinned) setWorkflowOptions(options, workflow);
