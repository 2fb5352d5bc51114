import {
  Client,
  Connection,
  isGrpcServiceError,
  type WorkflowClientInterceptor,
  type WorkflowExecutionDescription,
} from '@temporalio/client';
import { defaultPayloadConverter, NamespaceNotFoundError } from '@temporalio/common';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { readVariable } from './config';
import { getTracer, traced } from './tracing/tracing';

/**
 * Options of every connection to Temporal, for clients and workers: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_TLS_* and
 * TEMPORAL_API_KEY (the environment configuration of the SDK), or TEMPORAL_API_KEY_FILE.
 * @throws ConfigError when the key file cannot be read.
 */
export function readTemporalOptions(env: NodeJS.ProcessEnv = process.env) {
  const apiKey = readVariable('TEMPORAL_API_KEY', { secret: true }, env);
  const { connectionOptions, namespace } = loadClientConnectConfig({
    overrideEnvVars: { ...definedVariables(env), ...(apiKey !== undefined && { TEMPORAL_API_KEY: apiKey }) },
  });
  return { connectionOptions, namespace: namespace ?? 'default' };
}

const definedVariables = (env: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));

/** A lazily connected client. A process can start while Temporal is down: calls fail until it is available. */
export function createTemporalClient(env?: NodeJS.ProcessEnv): Client {
  const { connectionOptions, namespace } = readTemporalOptions(env);
  return new Client({ connection: Connection.lazy(connectionOptions), namespace, interceptors: { workflow: [traceStarts] } });
}

/** A workflow that is started within a span goes on in its trace: by a header, named as `traceHeader` of src/messages says. */
export const traceStarts: WorkflowClientInterceptor = {
  startWithDetails: (input, next) =>
    traced(`start ${input.workflowType}`, { kind: 'producer', attributes: { 'gateway.workflow': input.workflowType } }, () => {
      const traceParent = getTracer()?.traceParent();
      if (traceParent === undefined) return next(input);
      return next({ ...input, headers: { ...input.headers, traceparent: defaultPayloadConverter.toPayload(traceParent) } });
    }),
};

const grpcStatus = { deadlineExceeded: 4, notFound: 5, resourceExhausted: 8, unavailable: 14 } as const;

/** The gRPC status in the chain of causes (the SDK wraps it in a ServiceError), or undefined. */
function findGrpcStatus(error: unknown): number | undefined {
  for (let current = error, depth = 0; current instanceof Error && depth < 5; current = current.cause, depth += 1) {
    if (isGrpcServiceError(current)) return current.code;
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
