import { ActivityFailure, ApplicationFailure, CancelledFailure, RetryState, TimeoutFailure } from '@temporalio/common';
import { type NodeIndex, nodeIndexes } from '../src/messages/nodes';
import type { SignedRefusal } from '../src/messages/signing';
import { failureCodes, isFailureCode, type FailureCode } from '../src/platform/codes';

/** The error of an activity, with its failure code. */
export interface Problem {
  code: FailureCode;
  message: string;
  retryable: boolean;
  /** The signing node that has refused, where one has, and what it has signed about that. */
  node?: NodeIndex;
  refusal?: SignedRefusal;
}

/** Reads the code from an activity's failure; a time-out or an unknown failure is internal and retryable. */
export function toProblem(error: unknown): Problem {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof ApplicationFailure && isFailureCode(cause.type)) {
    const detail = cause.details?.[0] as { node?: string; refusal?: SignedRefusal } | undefined;
    const node = nodeIndexes.find((index) => String(index) === detail?.node);
    return {
      code: cause.type,
      message: cause.message,
      retryable: failureCodes[cause.type].retryable,
      ...(node && { node }),
      ...(detail?.refusal && { refusal: detail.refusal }),
    };
  }
  const message = cause instanceof TimeoutFailure ? `no response in time (${cause.timeoutType})` : 'unexpected failure';
  return { code: 'internal_error', message, retryable: true };
}

/** True when the enclosing scope was cancelled and the work itself did not fail. */
export function isCancelled(error: unknown): boolean {
  return error instanceof CancelledFailure || (error instanceof ActivityFailure && error.cause instanceof CancelledFailure);
}

/** All attempts that the activity was given have failed, and it may be asked for again. */
export const isGivenUp = (error: unknown): boolean =>
  error instanceof ActivityFailure && error.retryState === RetryState.MAXIMUM_ATTEMPTS_REACHED;

/**
 * Activities fail with an ActivityFailure, local ones with their cause itself. Anything else is a bug and must fail the workflow
 * task.
 */
export const isActivityError = (error: unknown): boolean =>
  error instanceof ActivityFailure || error instanceof ApplicationFailure;
