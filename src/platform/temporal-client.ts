import { Client, Connection, type WorkflowClientInterceptor } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
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
