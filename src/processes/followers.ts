import { WorkflowExecutionAlreadyStartedError, type Client } from '@temporalio/client';
import type { ChainRegistry } from '../chains/registry';
import { searchAttributes } from '../messages/progress';
import { mainTaskQueue } from '../messages/task-queues';
import { followChainWorkflowId, workflowTypes } from '../messages/workflow-ids';
import type { Logger } from '../platform/logging';
import { untilUp } from './process';

/** One follower per chain, started by whichever worker is first; it never ends. */
export async function startFollowers(
  temporal: Client,
  registry: ChainRegistry,
  logger: Logger,
  stop: AbortSignal,
): Promise<void> {
  for (const { name } of registry.all) {
    await untilUp(
      `Starting the follower of ${name}`,
      () =>
        temporal.workflow
          .start(workflowTypes.followChain, {
            workflowId: followChainWorkflowId(name),
            taskQueue: mainTaskQueue,
            args: [{ chain: name }],
            staticSummary: `follows ${name}`,
            typedSearchAttributes: [{ key: searchAttributes.chain, value: name }],
          })
          .catch((error: unknown) => {
            if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
          }),
      logger,
      stop,
    );
  }
}
