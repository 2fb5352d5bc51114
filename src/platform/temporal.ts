import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { NamespaceNotFoundError } from '@temporalio/common';

const grpcStatus = { deadlineExceeded: 4, notFound: 5, resourceExhausted: 8, unavailable: 14 } as const;

/** As gRPC's client makes them; its own check would load all of the client of Temporal, which takes some 200 ms of processor time. */
const isServiceError = (error: Error): error is Error & { code: number } =>
  'code' in error && typeof error.code === 'number' && 'details' in error && 'metadata' in error;

/** The gRPC status in the chain of causes (the SDK wraps it in a ServiceError), or undefined. */
function findGrpcStatus(error: unknown): number | undefined {
  for (let current = error, depth = 0; current instanceof Error && depth < 5; current = current.cause, depth += 1) {
    if (isServiceError(current)) return current.code;
  }
  return undefined;
}

/**
 * True when Temporal did not respond: unreachable, out of resources or timed out. An overloaded server also says that it has no such namespace,
 * which it had when the process began.
 */
export function isTemporalDown(error: unknown): boolean {
  if (error instanceof NamespaceNotFoundError) return true;
  const status = findGrpcStatus(error);
  return status === grpcStatus.unavailable || status === grpcStatus.deadlineExceeded || status === grpcStatus.resourceExhausted;
}

/** True when Temporal has no such run, or none any more; of calls that the SDK does not answer with a WorkflowNotFoundError itself. */
export const isRunMissing = (error: unknown): boolean => findGrpcStatus(error) === grpcStatus.notFound;

/** True for a run that goes on, or will once an operator lets it. */
export const isOpenRun = ({ status }: Pick<WorkflowExecutionDescription, 'status'>): boolean =>
  status.name === 'RUNNING' || status.name === 'PAUSED';

/** Runs calls to Temporal with a deadline. */
export function withinMs<T>(client: Client, timeoutMs: number, calls: () => Promise<T>): Promise<T> {
  return client.connection.withDeadline(Date.now() + timeoutMs, calls);
}
