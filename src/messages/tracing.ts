import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import type { Sinks } from '@temporalio/workflow';

/** Header of workflows and activities: `traceparent` (W3C Trace Context) of the span that has started the workflow. Without it nothing is traced. */
export const traceHeader = 'traceparent';

/** The text of the header. One that cannot be read is none: a trace must stop nothing. The form of the text is not checked. */
export function readTraceHeader(header: Payload | undefined): string | undefined {
  if (!header) return undefined;
  try {
    const text: unknown = defaultPayloadConverter.fromPayload(header);
    return typeof text === 'string' ? text : undefined;
  } catch {
    return undefined;
  }
}

/** What the worker records of a run that has ended. */
export interface TraceSinks extends Sinks {
  tracing: {
    /** `startedBy`: the text of the header. `failure`: the class of what the run has thrown; ContinueAsNew where another run goes on. */
    ended(startedBy: string, failure?: string): void;
  };
}
