import type { Sinks } from '@temporalio/workflow';

/** Header of workflows and activities: `traceparent` (W3C Trace Context) of the span that has started the workflow. Without it nothing is traced. */
export const traceHeader = 'traceparent';

/** What the worker records of a run that has ended. */
export interface TraceSinks extends Sinks {
  tracing: {
    /** `startedBy`: the text of the header. `failure`: the class of what the run has thrown; ContinueAsNew where another run goes on. */
    ended(startedBy: string, failure?: string): void;
  };
}
