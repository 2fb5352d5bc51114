import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Client } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils';

export interface RecordedRun {
  /** One run of several with the same workflow id; else the newest. */
  runId?: string;
  /** The run waits, as for an operator: its history is taken as it is. */
  isOpen?: boolean;
}

/** With RECORD_HISTORIES=1 the history of a run becomes one of the replay tests. */
export async function recordRun(
  client: Client,
  workflowId: string,
  name: string,
  { runId, isOpen = false }: RecordedRun = {},
): Promise<void> {
  if (process.env.RECORD_HISTORIES !== '1') return;
  const run = client.workflow.getHandle(workflowId, runId, { followRuns: false });
  if (!isOpen) await run.result().catch(() => undefined);
  const history = await run.fetchHistory();
  writeFileSync(path.join(__dirname, 'histories', `${name}.json`), `${historyToJSON(history)}\n`);
}
