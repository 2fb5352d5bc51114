import type { Client } from '@temporalio/client';
import type { DataSource } from 'typeorm';
import { mainTaskQueue } from '../messages/task-queues';
import { generateKeysAheadWorkflowId, workflowTypes } from '../messages/workflow-ids';
import { withinMs } from '../platform/temporal';
import { isWanted } from './keys-ahead';

const startTimeoutMs = 3_000;

/**
 * Has keys generated while fewer are offered than there may be and no wallet waits for one. One run at a time, whoever starts it.
 * @throws Error when the workflow service does not respond.
 */
export async function fillKeyPool(database: DataSource, temporal: Client, keyPoolSize: number): Promise<void> {
  if (!(await isWanted(database.manager, keyPoolSize))) return;
  await withinMs(temporal, startTimeoutMs, () =>
    temporal.workflow.start(workflowTypes.generateKeysAhead, {
      workflowId: generateKeysAheadWorkflowId,
      taskQueue: mainTaskQueue,
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      staticSummary: 'Keys generated ahead',
    }),
  );
}
