import { existsSync, readFileSync } from 'node:fs';
import type { Client } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils';
import { transferWorkflowId } from '../../src/messages/workflow-ids';
import { isUuid } from '../../src/platform/ids';
import { withinMs } from '../../src/platform/temporal';
import { createTemporalClient } from '../../src/platform/temporal-client';
import { devPaths, defaultDataDir } from '../paths';
import type { StackFile } from '../stack-file';
import type { History } from './history';

const fetchTimeoutMs = 60_000;

/**
 * The history of a run, from a file with JSON (`gateway transfers history`, `temporal workflow show --output json`, the export of Temporal's
 * user interface) or from Temporal.
 * @param source a file, the tx_id of a transfer, or the id of a workflow
 * @param runId of several with the same workflow id; else the newest
 * @throws Error with a sentence when there is no such file or run, or the file is no history.
 */
export async function loadHistory(source: string, runId?: string): Promise<History> {
  if (existsSync(source)) return parseHistory(readFileSync(source, 'utf8'), source);
  if (source.endsWith('.json')) throw new Error(`there is no file ${source}`);
  const client = connect();
  try {
    const handle = client.workflow.getHandle(isUuid(source) ? transferWorkflowId(source) : source, runId);
    const history = await withinMs(client, fetchTimeoutMs, () => handle.fetchHistory());
    return parseHistory(historyToJSON(history), source);
  } finally {
    await client.connection.close();
  }
}

function parseHistory(text: string, source: string): History {
  let history: Partial<History> | null;
  try {
    history = JSON.parse(text) as Partial<History> | null;
  } catch {
    throw new Error(`${source} is not JSON`);
  }
  if (!Array.isArray(history?.events) || history.events.length === 0)
    throw new Error(`${source} is not the history of a workflow: it has no events`);
  return history as History;
}

/** Temporal as TEMPORAL_ADDRESS and the other variables of the SDK say; without an address, the one of the stack that runs here. */
function connect(): Client {
  if (process.env.TEMPORAL_ADDRESS !== undefined) return createTemporalClient();
  const file = process.env.GATEWAY_TEST_STACK ?? devPaths(defaultDataDir()).stackFile;
  if (!existsSync(file)) throw new Error('set TEMPORAL_ADDRESS (and TEMPORAL_NAMESPACE), or start a stack with `npm run dev`');
  const { temporal } = JSON.parse(readFileSync(file, 'utf8')) as StackFile;
  return createTemporalClient({
    ...process.env,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
  });
}
