import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Client } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils';

/** With RECORD_HISTORIES=1 the history of an ended run becomes one of the replay tests. */
export async function recordRun(client: Client, workflowId: string, name: string): Promise<void> {
  if (process.env.RECORD_HISTORIES !== '1') return;
  const run = client.workflow.getHandle(workflowId);
  await run.result().catch(() => undefined);
  const history = await run.fetchHistory();
  writeFileSync(path.join(__dirname, 'histories', `${name}.json`), `${historyToJSON(history)}\n`);
}
