import { ActivityFailure, ApplicationFailure, CancelledFailure, TimeoutFailure } from '@temporalio/common';
import { type NodeIndex, nodeIndexes } from '../src/messages/nodes';
import { failureCodes, isFailureCode, type FailureCode } from '../src/platform/codes';

/** The error of an activity, with its failure code. */
export interface Problem {
  code: FailureCode;
  message: string;
  retryable: boolean;
  /** The signing node that has refused, where one has. */
  node?: NodeIndex;
}

/** Reads the code from an activity's failure; a time-out or an unknown failure is internal and retryable. */
export function toProblem(error: unknown): Problem {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof ApplicationFailure && isFailureCode(cause.type)) {
    const node = nodeIndexes.find((index) => String(index) === nodeOf(cause));
    return { code: cause.type, message: cause.message, retryable: failureCodes[cause.type].retryable, ...(node && { node }) };
  }
  const message = cause instanceof TimeoutFailure ? `no response in time (${cause.timeoutType})` : 'unexpected failure';
  return { code: 'internal_error', message, retryable: true };
}

const nodeOf = ({ details }: ApplicationFailure): string | undefined => (details?.[0] as { node?: string } | undefined)?.node;

/** True when the enclosing scope was cancelled and the work itself did not fail. */
export function isCancelled(error: unknown): boolean {
  return error instanceof CancelledFailure || (error instanceof ActivityFailure && error.cause instanceof CancelledFailure);
}

/**
 * Activities fail with an ActivityFailure, local ones with their cause itself. Anything else is a bug and must fail the workflow
 * task.
 */
export const isActivityError = (error: unknown): boolean =>
  error instanceof ActivityFailure || error instanceof ApplicationFailure;
