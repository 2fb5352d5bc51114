import type { SpanAttributes } from './attributes';

export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer';

export interface SpanOptions {
  kind?: SpanKind;
  attributes?: SpanAttributes;
}

/** A span that has not ended. What is set or ended after its end has no effect. */
export interface OpenSpan {
  /** 32 hex digits. */
  readonly traceId: string;
  /** Runs `work` with this span as the parent of those that begin in it, also after an await. */
  run<T>(work: () => T): T;
  set(attributes: SpanAttributes): void;
  rename(name: string): void;
  /** With an error it has failed; of the error its code or its class is exported. */
  end(error?: unknown): void;
}

/** What the SDK does where spans are exported (opentelemetry.ts). */
export interface Tracer {
  /** Below the span in whose `run` it is called; undefined outside of any. */
  begin(name: string, options: SpanOptions): OpenSpan | undefined;
  /** Below the caller's span, or in a trace of its own. */
  beginRequest(name: string, options: SpanOptions, traceParent: string | undefined): OpenSpan;
  /** Records a span that has begun and ended elsewhere, with an id given by whoever began it (16 hex digits). */
  record(name: string, options: SpanOptions & { spanId: string; traceParent: string; startedAt: Date }): void;
  /** `traceparent` of W3C Trace Context of the present span. */
  traceParent(): string | undefined;
  /** Runs `work` below a span of another process. */
  below<T>(traceParent: string, work: () => T): T;
  /** Of the present span. */
  set(attributes: SpanAttributes): void;
}

let tracer: Tracer | undefined;

/** undefined: nothing is traced. */
export function setTracer(used: Tracer | undefined): void {
  tracer = used;
}

/** undefined where nothing is traced, which is so unless an endpoint for spans is configured. */
export const getTracer = (): Tracer | undefined => tracer;

/** Version 00 of W3C Trace Context; ids of zeros are none. */
const form = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** What came from elsewhere, if it is a `traceparent`. */
export const readTraceParent = (given: unknown): string | undefined =>
  typeof given === 'string' && form.test(given) ? given : undefined;

/** A span around `work`, below the present one; where there is none, or nothing is traced, `work` alone. */
export async function traced<T>(name: string, options: SpanOptions, work: (span?: OpenSpan) => Promise<T>): Promise<T> {
  const span = tracer?.begin(name, options);
  if (!span) return work();
  try {
    const result = await span.run(() => work(span));
    span.end();
    return result;
  } catch (error) {
    span.end(error);
    throw error;
  }
}

/** Runs `work` below a span of another process, where there is one. */
export const below = <T>(traceParent: string | undefined, work: () => T): T =>
  tracer && traceParent !== undefined ? tracer.below(traceParent, work) : work();
