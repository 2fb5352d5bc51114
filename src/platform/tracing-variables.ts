import Joi from 'joi';
import { variable } from './variable';

/** Without user, password and query: credentials belong to OTEL_EXPORTER_OTLP_HEADERS, which is a secret. */
const endpoint = () => Joi.string().pattern(/^https?:\/\/[^\s@?#]+$/);
const group = 'api, worker, authoriser, mpc-node';
const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/** Of traces (docs/tracing.md), with the names and defaults of OpenTelemetry. */
export const tracingVariables = {
  OTEL_EXPORTER_OTLP_ENDPOINT: variable(
    group,
    endpoint(),
    'Base URL of an OpenTelemetry collector, such as http://127.0.0.1:4318; spans are posted to /v1/traces below it, by OTLP over HTTP with JSON. Without this and the next one nothing is traced.',
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: variable(group, endpoint(), 'The whole URL for spans, in place of the one before.'),
  OTEL_EXPORTER_OTLP_HEADERS: variable(
    group,
    Joi.string().pattern(/^\s*[\w-]+=[^,\s]+(\s*,\s*[\w-]+=[^,\s]+)*\s*$/),
    'Headers of these requests: name=value, separated by commas, values percent-encoded.',
    true,
  ),
  OTEL_TRACES_SAMPLER: variable(
    group,
    Joi.string<(typeof samplers)[number]>()
      .valid(...samplers)
      .default('parentbased_always_on'),
    `Which traces are exported: ${samplers.join(', ')}.`,
  ),
  OTEL_TRACES_SAMPLER_ARG: variable(
    group,
    Joi.number().min(0).max(1).default(1),
    'Share of the traces, from 0 to 1, for the samplers with a ratio.',
  ),
  OTEL_SERVICE_NAME: variable(
    group,
    Joi.string().pattern(/^[\w.-]{1,100}$/),
    'service.name of the spans; by default gateway- and the name of the process, such as gateway-mpc-node-1.',
  ),
  API_TRUST_TRACEPARENT: variable(
    'api',
    Joi.boolean().default(false),
    'true behind a proxy that sets or removes the header traceparent of every request: the trace goes on from it. Needs API_TRUST_PROXY. Otherwise every request begins a trace.',
  ),
} as const;
