import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { type Span, type SpanContext, SpanKind, SpanStatusCode, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  type IdGenerator,
  ParentBasedSampler,
  RandomIdGenerator,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { exportable, type SpanAttributes, toErrorType } from './attributes';
import type { OpenSpan, SpanOptions, Tracer } from './tracing';

/** Only start.ts loads this file, and only where an endpoint is configured: it loads the packages of OpenTelemetry. */

/** Spans wait for at most a second; when there are more, because the collector is slow or down, further ones are dropped. */
const queue = { maxQueueSize: 2_048, maxExportBatchSize: 256, scheduledDelayMillis: 1_000, exportTimeoutMillis: 5_000 };
/** All batches of a full queue may be on their way when the process stops. */
const concurrencyLimit = 16;
/** Time that a process which stops spends on the spans that wait. */
const flushMs = 2_000;
const instrumentation = 'custody-gateway';
/** ExportResultCode.SUCCESS of @opentelemetry/core. */
const succeeded = 0;

export interface TracerSettings {
  url: string;
  headers: Record<string, string>;
  serviceName: string;
  process: string;
  sampler: string;
  /** From 0 to 1. */
  ratio: number;
}

export interface RunningTracer {
  tracer: Tracer;
  /** Exports what waits, for 2 s at most. Never throws. */
  stop: () => Promise<void>;
}

/** `report`: called with the outcome of every export; an error is that of the exporter, and may name the URL. */
export function createTracer(settings: TracerSettings, report: (error?: Error) => void): RunningTracer {
  const { url, headers, serviceName, process, sampler, ratio } = settings;
  const exporter = new OTLPTraceExporter({ url, headers, timeoutMillis: queue.exportTimeoutMillis, concurrencyLimit });
  const ids = new GivenIds();
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': serviceName, 'gateway.process': process }),
    sampler: toSampler(sampler, ratio),
    idGenerator: ids,
    spanLimits: { attributeValueLengthLimit: 256, attributeCountLimit: 32, eventCountLimit: 0, linkCountLimit: 0 },
    spanProcessors: [new BatchSpanProcessor({ ...queue, exporter: reporting(exporter, report) })],
  });
  const stop = async () => {
    const timeOut = new AbortController();
    const waited = delay(flushMs, undefined, { signal: timeOut.signal });
    await Promise.race([provider.shutdown(), waited]).catch(() => undefined);
    timeOut.abort();
    await waited.catch(() => undefined);
  };
  return { tracer: new SdkTracer(provider, ids), stop };
}

interface Present {
  context: SpanContext;
  /** Of this process. */
  span?: Span;
}

class SdkTracer implements Tracer {
  private readonly present = new AsyncLocalStorage<Present>();
  private readonly sdk;

  constructor(
    provider: TracerProvider,
    private readonly ids: GivenIds,
  ) {
    this.sdk = provider.getTracer(instrumentation);
  }

  begin(name: string, options: SpanOptions): OpenSpan | undefined {
    const parent = this.present.getStore()?.context;
    return parent && this.open(this.start(name, options, parent));
  }

  beginRequest(name: string, options: SpanOptions, traceParent: string | undefined): OpenSpan {
    return this.open(this.start(name, options, traceParent === undefined ? undefined : toContext(traceParent)));
  }

  record(name: string, options: SpanOptions & { spanId: string; traceParent: string; startedAt: Date }): void {
    this.ids.next = options.spanId;
    const span = this.start(name, options, toContext(options.traceParent), options.startedAt);
    this.ids.next = undefined;
    span.end();
  }

  traceParent(): string | undefined {
    const context = this.present.getStore()?.context;
    return context && toText(context);
  }

  below<T>(traceParent: string, work: () => T): T {
    return this.present.run({ context: toContext(traceParent) }, work);
  }

  set(attributes: SpanAttributes): void {
    this.present.getStore()?.span?.setAttributes(exportable(attributes));
  }

  private start(name: string, { kind = 'internal', attributes = {} }: SpanOptions, parent?: SpanContext, startTime?: Date): Span {
    const above = parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
    const options = { kind: kinds[kind], attributes: exportable(attributes), ...(startTime && { startTime }) };
    return this.sdk.startSpan(name, options, above);
  }

  private open(span: Span): OpenSpan {
    const context = span.spanContext();
    return {
      traceId: context.traceId,
      run: (work) => this.present.run({ context, span }, work),
      set: (attributes) => void span.setAttributes(exportable(attributes)),
      rename: (name) => void span.updateName(name),
      end: (error) => {
        if (error !== undefined) {
          span.setAttributes(exportable({ 'error.type': toErrorType(error) }));
          span.setStatus({ code: SpanStatusCode.ERROR });
        }
        span.end();
      },
    };
  }
}

const kinds = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const;

/** Random ids, but for the span that is given one. */
class GivenIds implements IdGenerator {
  next: string | undefined;
  private readonly random = new RandomIdGenerator();

  generateTraceId(): string {
    return this.random.generateTraceId();
  }

  generateSpanId(): string {
    return this.next ?? this.random.generateSpanId();
  }
}

const toText = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;

/** Of a text that readTraceParent has let through. */
function toContext(traceParent: string): SpanContext {
  const [, traceId = '', spanId = '', flags = ''] = traceParent.split('-');
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
}

function toSampler(name: string, ratio: number): Sampler {
  const root = name.endsWith('always_off')
    ? new AlwaysOffSampler()
    : name.endsWith('ratio')
      ? new TraceIdRatioBasedSampler(ratio)
      : new AlwaysOnSampler();
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
}

function reporting(exporter: OTLPTraceExporter, report: (error?: Error) => void): SpanExporter {
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        report(Number(result.code) === succeeded ? undefined : (result.error ?? new Error('export failed')));
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
  };
}
