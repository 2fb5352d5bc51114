import type { Client } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { searchAttributes } from '../messages/progress';
import { mainTaskQueue } from '../messages/task-queues';
import { generateKeyWorkflowId, workflowTypes } from '../messages/workflow-ids';
import { withinMs } from '../platform/temporal';
import type { WalletEntity } from './entity';

const startTimeoutMs = 3_000;

/** Starts the workflow that gives a wallet its key. */
export interface KeyGeneration {
  /** No effect when it is running or has run. @throws Error when the workflow service does not respond. */
  start(wallet: Pick<WalletEntity, 'walletId' | 'clientId'>): Promise<void>;
}

export function keyGenerationOn(temporal: Client): KeyGeneration {
  return {
    start: async ({ walletId, clientId }) => {
      const started = withinMs(temporal, startTimeoutMs, () =>
        temporal.workflow.start(workflowTypes.generateKey, {
          workflowId: generateKeyWorkflowId(walletId),
          taskQueue: mainTaskQueue,
          args: [{ walletId, clientId }],
          workflowIdConflictPolicy: 'USE_EXISTING',
          workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
          typedSearchAttributes: [
            { key: searchAttributes.clientId, value: clientId },
            { key: searchAttributes.walletId, value: walletId },
          ],
          staticSummary: 'Key of a new wallet',
        }),
      );
      await started.catch((error: unknown) => {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      });
    },
  };
}
