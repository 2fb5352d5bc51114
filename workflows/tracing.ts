import type { Headers } from '@temporalio/common';
import { ContinueAsNew, proxySinks, TemporalFailure, type WorkflowInterceptorsFactory } from '@temporalio/workflow';
import { readTraceHeader, type TraceSinks, traceHeader } from '../src/messages/tracing';

const { tracing } = proxySinks<TraceSinks>();

/** Any other error fails the task and not the run: the task is tried again, perhaps for days. */
const endsRun = (error: unknown): error is Error => error instanceof TemporalFailure || error instanceof ContinueAsNew;

/**
 * Passes the trace of a workflow to its activities and to the run that continues it: headers alone, so that histories with and without them
 * replay alike, and nothing of OpenTelemetry is in the bundle. Promises are passed on as they are: a further step before they resolve
 * could change the order of commands.
 */
export const interceptors: WorkflowInterceptorsFactory = () => {
  let carried: Headers = {};
  const carry = <I extends { readonly headers: Headers }>(input: I): I => ({
    ...input,
    headers: { ...input.headers, ...carried },
  });
  return {
    inbound: [
      {
        execute: (input, next) => {
          const header = input.headers[traceHeader];
          const startedBy = readTraceHeader(header);
          if (!header || startedBy === undefined) return next(input);
          carried = { [traceHeader]: header };
          const run = next(input);
          void run.then(
            () => tracing.ended(startedBy),
            (error: unknown) => {
              if (endsRun(error)) tracing.ended(startedBy, error.name);
            },
          );
          return run;
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => next(carry(input)),
        scheduleLocalActivity: (input, next) => next(carry(input)),
        continueAsNew: (input, next) => next(carry(input)),
      },
    ],
  };
};
