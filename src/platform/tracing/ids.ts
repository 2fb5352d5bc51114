import { createHash } from 'node:crypto';

/**
 * The id of the span of a workflow's run: whoever runs one of its activities knows it without being told, also before the span has been
 * recorded at the end of the run. `runId`: of Temporal.
 */
export const runSpanId = (runId: string): string => createHash('sha256').update(`span of ${runId}`).digest('hex').slice(0, 16);

/** The run's span as the parent of others: in the trace of the span that has started the workflow. */
export const belowRun = (startedBy: string, runId: string): string =>
  `${startedBy.slice(0, 36)}${runSpanId(runId)}${startedBy.slice(52)}`;
