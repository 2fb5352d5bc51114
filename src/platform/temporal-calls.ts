import { type Client, isGrpcServiceError } from '@temporalio/client';
import { GatewayError } from '../platform/errors';

const grpcStatus = { deadlineExceeded: 4, resourceExhausted: 8, failedPrecondition: 9, unavailable: 14 } as const;

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

/**
 * True when the server dropped an update because the workflow task it travelled with was lost, as happens when something
 * else reaches the workflow at the same time. The update may have done its work; asking again is how to find out.
 */
export const isUpdateDropped = (error: unknown): boolean => grpcCode(error) === grpcStatus.failedPrecondition;

/** Runs calls to Temporal that have to be over within `timeoutMs`. */
export function withinMs<T>(client: Client, timeoutMs: number, calls: () => Promise<T>): Promise<T> {
  return client.connection.withDeadline(Date.now() + timeoutMs, calls);
}

/**
 * Asks Temporal for a sign of life, so that a request finds out before it has begun anything.
 * @throws GatewayError unavailable when none comes within 2 s.
 */
export async function assertTemporalAnswers(client: Client): Promise<void> {
  try {
    await withinMs(client, 2_000, () => client.connection.workflowService.getSystemInfo({}));
  } catch (error) {
    throw new GatewayError('unavailable', 'The workflow service is unreachable', { cause: error, retryAfterSeconds: 5 });
  }
}
