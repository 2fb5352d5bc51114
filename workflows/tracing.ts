import type { Headers } from '@temporalio/common';
import { defaultPayloadConverter, proxySinks, type WorkflowInterceptorsFactory } from '@temporalio/workflow';
import { type TraceSinks, traceHeader } from '../src/messages/tracing';

const { tracing } = proxySinks<TraceSinks>();

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
          if (!header) return next(input);
          carried = { [traceHeader]: header };
          const run = next(input);
          const end = (error?: Error) => tracing.ended(defaultPayloadConverter.fromPayload<string>(header), error?.name);
          void run.then(() => end(), end);
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
