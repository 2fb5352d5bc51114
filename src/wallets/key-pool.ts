import type { Client } from '@temporalio/client';
import type { DataSource } from 'typeorm';
import { mainTaskQueue } from '../messages/task-queues';
import { fillKeyPoolWorkflowId, workflowTypes } from '../messages/workflow-ids';
import { withinMs } from '../platform/temporal';
import { isWanted } from './pooled-keys';

const startTimeoutMs = 3_000;

/**
 * Has keys generated while fewer are free than there may be. One run at a time, whoever starts it.
 * @throws Error when the workflow service does not respond.
 */
export async function fillKeyPool(database: DataSource, temporal: Client, keyPoolSize: number): Promise<void> {
  if (!(await isWanted(database.manager, keyPoolSize))) return;
  await withinMs(temporal, startTimeoutMs, () =>
    temporal.workflow.start(workflowTypes.fillKeyPool, {
      workflowId: fillKeyPoolWorkflowId,
      taskQueue: mainTaskQueue,
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      staticSummary: 'Keys for wallets to come',
    }),
  );
}
