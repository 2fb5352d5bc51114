import { type Client, isGrpcServiceError } from '@temporalio/client';

const grpcStatus = { deadlineExceeded: 4, resourceExhausted: 8, unavailable: 14 } as const;

/** The gRPC status somewhere in the chain of causes (the SDK wraps it in a ServiceError), or undefined. */
function grpcCode(error: unknown): number | undefined {
  for (let current = error, depth = 0; current instanceof Error && depth < 5; current = current.cause, depth += 1) {
    if (isGrpcServiceError(current)) return current.code;
  }
  return undefined;
}

/** True when Temporal did not answer: unreachable, out of resources or out of time. */
export function isTemporalDown(error: unknown): boolean {
  const code = grpcCode(error);
  return code === grpcStatus.unavailable || code === grpcStatus.deadlineExceeded || code === grpcStatus.resourceExhausted;
}

/** Runs calls to Temporal that have to be over within `timeoutMs`. */
export function withinMs<T>(client: Client, timeoutMs: number, calls: () => Promise<T>): Promise<T> {
  return client.connection.withDeadline(Date.now() + timeoutMs, calls);
}
