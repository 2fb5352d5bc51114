import { readConfig } from '../config';
import type { Logger } from '../logging';
import type * as sdk from './opentelemetry';
import { setTracer } from './tracing';

const variables = [
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_TRACES_SAMPLER',
  'OTEL_TRACES_SAMPLER_ARG',
  'OTEL_SERVICE_NAME',
] as const;

/**
 * Traces this process if an endpoint for spans is configured (docs/tracing.md); else no package of OpenTelemetry is loaded. Returns what
 * the process calls when it stops: it exports the last spans, for 2 s at most.
 * @throws ConfigError naming the variable that is wrong.
 */
export function startTracing(process: string, log: Logger, env?: NodeJS.ProcessEnv): () => Promise<void> {
  const config = readConfig(variables, env);
  const base = config.OTEL_EXPORTER_OTLP_ENDPOINT?.replace(/\/$/, '');
  const url = config.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? (base && `${base}/v1/traces`);
  if (!url) return () => Promise.resolve();
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- loaded only here, and only now
  const loaded = require('./opentelemetry') as typeof sdk;
  const { tracer, stop } = loaded.createTracer(
    {
      url,
      headers: readHeaders(config.OTEL_EXPORTER_OTLP_HEADERS ?? ''),
      serviceName: config.OTEL_SERVICE_NAME ?? `gateway-${process}`,
      process,
      sampler: config.OTEL_TRACES_SAMPLER,
      ratio: config.OTEL_TRACES_SAMPLER_ARG,
    },
    reportTo(log),
  );
  setTracer(tracer);
  log.info({ endpoint_host: new URL(url).host, sampler: config.OTEL_TRACES_SAMPLER }, 'spans are exported');
  return async () => {
    setTracer(undefined);
    await stop();
  };
}

/** One line when exports begin to fail, and one when they succeed again. The error's text may name the URL: it is left out. */
function reportTo(log: Logger): (error?: Error) => void {
  let failing = false;
  return (error) => {
    if (error && !failing)
      log.warn({ reason: error.name }, 'spans are not exported: those that do not fit into the queue are dropped');
    if (!error && failing) log.info('spans are exported again');
    failing = error !== undefined;
  };
}

/** As the configuration has checked them: name=value, separated by commas, values percent-encoded. */
function readHeaders(text: string): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair.includes('='));
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      return [pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())];
    }),
  );
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
