import type { ActivityInterceptorsFactory, InjectedSinks, WorkerOptions } from '@temporalio/worker';
import { readTraceHeader, traceHeader, type TraceSinks } from '../messages/tracing';
import { belowRun, runSpanId } from '../platform/tracing/ids';
import { below, getTracer, readTraceParent, traced } from '../platform/tracing/tracing';

/** The wallet or transaction that a workflow is about, from its id. */
const findSubject = (workflowId: string): string | undefined =>
  /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.exec(workflowId)?.[0];

/** A span for each try of an activity whose workflow is traced, below that of the workflow's run. */
const traceActivity: ActivityInterceptorsFactory = ({ info }) => ({
  inbound: {
    execute: (input, next) => {
      const startedBy = getTracer() && readTraceParent(readTraceHeader(input.headers[traceHeader]));
      const { activityType, attempt, taskQueue, workflowExecution: run } = info;
      if (!startedBy || !run) return next(input);
      const attributes = {
        'gateway.activity': activityType,
        'gateway.attempt': attempt,
        'gateway.task_queue': taskQueue,
        'gateway.subject_id': findSubject(run.workflowId),
      };
      return below(belowRun(startedBy, run.runId), () =>
        traced(`activity ${activityType}`, { kind: 'consumer', attributes }, () => next(input)),
      );
    },
  },
});

/** Given in any case: a workflow that was started while traces were exported calls it after they no longer are. */
const sinks: InjectedSinks<TraceSinks> = {
  tracing: {
    ended: {
      fn: ({ workflowId, runId, workflowType, startTime }, startedBy, failure) => {
        const traceParent = readTraceParent(startedBy);
        if (traceParent === undefined) return;
        const outcome = failure === undefined ? 'completed' : failure === 'ContinueAsNew' ? 'continued' : 'failed';
        getTracer()?.record(`workflow ${workflowType}`, {
          kind: 'consumer',
          attributes: {
            'gateway.workflow': workflowType,
            'gateway.subject_id': findSubject(workflowId),
            'gateway.outcome': outcome,
          },
          ...{ spanId: runSpanId(runId), traceParent, startedAt: startTime },
        });
      },
      callDuringReplay: false,
    },
  },
};

/** Options of every worker. */
export const tracedWorker = { interceptors: { activity: [traceActivity] }, sinks } satisfies Partial<WorkerOptions>;
