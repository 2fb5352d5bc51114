import { Client, Connection, isGrpcServiceError } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';

/**
 * A lazily connected client, configured by TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_TLS_* and TEMPORAL_API_KEY (the environment
 * configuration of the SDK). A process can start while Temporal is down: calls fail until it is available.
 */
export function createTemporalClient(): Client {
  const { connectionOptions, namespace } = loadClientConnectConfig();
  return new Client({ connection: Connection.lazy(connectionOptions), namespace: namespace ?? 'default' });
}

const grpcStatus = { deadlineExceeded: 4, resourceExhausted: 8, unavailable: 14 } as const;

/** The gRPC status in the chain of causes (the SDK wraps it in a ServiceError), or undefined. */
function findGrpcStatus(error: unknown): number | undefined {
  for (let current = error, depth = 0; current instanceof Error && depth < 5; current = current.cause, depth += 1) {
    if (isGrpcServiceError(current)) return current.code;
  }
  return undefined;
}

/** True when Temporal did not respond: unreachable, out of resources or timed out. */
export function isTemporalDown(error: unknown): boolean {
  const status = findGrpcStatus(error);
  return status === grpcStatus.unavailable || status === grpcStatus.deadlineExceeded || status === grpcStatus.resourceExhausted;
}

/** Runs calls to Temporal with a deadline. */
export function withinMs<T>(client: Client, timeoutMs: number, calls: () => Promise<T>): Promise<T> {
  return client.connection.withDeadline(Date.now() + timeoutMs, calls);
}
