import type { Client } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils';
import type { Command } from 'commander';
import { transferWorkflowId } from '../messages/workflow-ids';
import { GatewayError, invalidParameter, notFound } from '../platform/errors';
import { isUuid } from '../platform/ids';
import { isRunMissing, withinMs } from '../platform/temporal';
import { print, printRows } from './output';
import type { Run } from './run';

const fetchTimeoutMs = 60_000;
/** A transfer continues as new after some thousands of events; more runs than this have never been seen. */
const maxRuns = 100;

interface HistoryOptions {
  run?: string;
  runs?: boolean;
}

/** transfers history */
export function addTransferHistory(transfers: Command, run: Run): void {
  transfers
    .command('history <tx-id>')
    .description('print the history of the workflow of a transfer as JSON, for `npm run replay`')
    .option('--run <run-id>', 'this run of a transfer that has several; by default the newest')
    .option('--runs', 'list the runs of the transfer, newest first, and print no history')
    .action(
      run(async ({ temporal, json }, txId: string, { run: runId, runs }: HistoryOptions) => {
        if (!isUuid(txId)) throw notFound(`transaction ${txId}`);
        if (runId !== undefined && !isUuid(runId)) throw invalidParameter('run', 'must be the id of a run, as --runs lists them');
        if (runs) return printRows(await listRuns(temporal, txId), json);
        print(await readHistory(temporal, txId, runId));
      }),
    );
}

/** As Temporal's own tools write it. @throws GatewayError not_found, also for a run that Temporal does not keep any more. */
export async function readHistory(temporal: Client, txId: string, runId?: string): Promise<string> {
  const handle = temporal.workflow.getHandle(transferWorkflowId(txId), runId);
  try {
    return historyToJSON(await withinMs(temporal, fetchTimeoutMs, () => handle.fetchHistory()));
  } catch (error) {
    if (!isRunMissing(error)) throw error;
    throw new GatewayError(
      'not_found',
      `Temporal has no such run of transaction ${txId}: of runs that have ended it keeps those within the retention of its namespace`,
    );
  }
}

/** Runs that continue each other, and those that an operator has started again. */
export async function listRuns(temporal: Client, txId: string) {
  const query = `WorkflowId = '${transferWorkflowId(txId)}'`;
  const rows = await withinMs(temporal, fetchTimeoutMs, async () => {
    const found = [];
    for await (const { runId, status, startTime, closeTime, historyLength } of temporal.workflow.list({ query })) {
      found.push({ run_id: runId, status: status.name, started_at: startTime, closed_at: closeTime, events: historyLength });
      if (found.length === maxRuns) break;
    }
    return found;
  });
  return rows.sort((a, b) => b.started_at.getTime() - a.started_at.getTime());
}
