import { Context } from '@temporalio/activity';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { isDatabaseDown } from '../src/platform/database';
import { GatewayError } from '../src/platform/errors';
import type { Logger } from '../src/platform/logging';
import type { SignedRefusal } from '../src/messages/signing';

/**
 * The only place that maps errors to Temporal: a GatewayError keeps its code as failure type and is retryable or not by its code.
 * Any other error is logged here and reaches Temporal without its text, which may contain what must not be in a history (SQL, RPC
 * urls with keys); it is retried, since it does not concern the request itself.
 */
function toFailure(error: unknown, activity: string, logger: Logger): Error {
  if (error instanceof ApplicationFailure || error instanceof CancelledFailure) return error;
  if (error instanceof GatewayError) {
    const detail = { ...(error.fields && { fields: error.fields }), ...nodeDetail(error) };
    return ApplicationFailure.create({
      type: error.code,
      message: error.message,
      nonRetryable: !error.retryable,
      details: Object.keys(detail).length > 0 ? [detail] : [],
    });
  }
  const down = isDatabaseDown(error);
  logger[down ? 'warn' : 'error']({ err: error, activity }, 'activity failed');
  return ApplicationFailure.create({
    type: down ? 'unavailable' : 'internal_error',
    message: down ? 'The database is unreachable' : `${activity} failed unexpectedly: see the log of this worker`,
    nonRetryable: false,
  });
}

/** Which signing node has refused, and what it has signed about that. */
function nodeDetail({ extra: { node, refusal: text, refusal_signature: signature } = {} }: GatewayError): NodeDetail {
  return { ...(node && { node }), ...(text && signature && { refusal: { text, signature } }) };
}

interface NodeDetail {
  node?: string;
  refusal?: SignedRefusal;
}

type ActivityFunction = (input: never) => Promise<unknown>;

/**
 * The same activities, which end with their worker: what still runs when it cancels them, its grace time after the process was told to stop,
 * fails with this reason and is tried again. The work itself goes on until the process ends, so it has to be safe to repeat.
 */
export function untilCancelled<T extends object>(activities: T, reason: string): T {
  const wrapped = Object.entries(activities).map(([name, run]: [string, ActivityFunction]) => [
    name,
    (input: never) => {
      const ended = run(input);
      const cancelled = Context.current().cancelled.catch((error: Error) => {
        // with any other reason, such as a time-out, Temporal waits for nothing: its place here is taken until the work ends
        if (error.message !== 'WORKER_SHUTDOWN') return ended;
        throw new GatewayError('signers_unavailable', reason);
      });
      return Promise.race([ended, cancelled]);
    },
  ]);
  return Object.fromEntries(wrapped) as T;
}

/** The same activities with mapped errors and, on failure, a log line that names the workflow. */
export function withMappedErrors<T extends object>(activities: T, logger: Logger): T {
  const wrapped = Object.entries(activities).map(([name, run]: [string, ActivityFunction]) => [
    name,
    async (input: never) => {
      try {
        return await run(input);
      } catch (error) {
        throw toFailure(error, name, logger.child({ workflow_id: Context.current().info.workflowExecution?.workflowId }));
      }
    },
  ]);
  return Object.fromEntries(wrapped) as T;
}
