import type { Client } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { ChainRegistry } from '../chains/registry';
import { searchAttributes } from '../messages/progress';
import { mainTaskQueue } from '../messages/task-queues';
import { followChainWorkflowId, workflowTypes } from '../messages/workflow-ids';
import type { Logger } from '../platform/logging';
import { withinMs } from '../platform/temporal';
import { untilUp } from './process';

const startTimeoutMs = 3_000;

/** One follower per chain, started by whichever worker is first; it never ends. */
export async function startFollowers(
  temporal: Client,
  registry: ChainRegistry,
  logger: Logger,
  stop: AbortSignal,
): Promise<void> {
  for (const { name } of registry.all)
    await untilUp(`Starting the follower of ${name}`, () => startFollower(temporal, name), logger, stop);
}

/**
 * Starts followers again whose workflow has closed: terminated by an operator, or lost with the workflow service's data. Without one no deposit
 * is credited and nothing is confirmed. It continues at the cursor of its chain. No effect on those that are running.
 * @throws Error when the workflow service does not respond.
 */
export async function restartLostFollowers(temporal: Client, registry: ChainRegistry, log: Pick<Logger, 'warn'>): Promise<void> {
  for (const { name: chain } of registry.all)
    if (await withinMs(temporal, startTimeoutMs, () => startFollower(temporal, chain)))
      log.warn({ chain }, 'the follower of a chain was not running, and is started again');
}

/** False: it is running. */
async function startFollower(temporal: Client, chain: string): Promise<boolean> {
  try {
    await temporal.workflow.start(workflowTypes.followChain, {
      workflowId: followChainWorkflowId(chain),
      taskQueue: mainTaskQueue,
      args: [{ chain }],
      staticSummary: `follows ${chain}`,
      typedSearchAttributes: [{ key: searchAttributes.chain, value: chain }],
    });
    return true;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw error;
  }
}
