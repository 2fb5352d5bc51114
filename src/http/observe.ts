import { Histogram } from 'prom-client';
import { isUuid, newId } from '../platform/ids';
import type { Logger } from '../platform/logging';
import { metrics } from '../platform/metrics';
import { getTracer, type OpenSpan, readTraceParent } from '../platform/tracing/tracing';
import type { GatewayContext, Middleware } from './context';

const durations = new Histogram({
  name: 'gateway_http_request_duration_seconds',
  help: 'Duration of HTTP requests by route template',
  labelNames: ['method', 'route', 'status'] as const,
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  registers: [metrics],
});

const safeRequestId = /^[A-Za-z0-9._:-]{1,64}$/;
/** W3C trace context: version-traceid-parentid-flags. */
const traceparent = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/;
const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Asked every few seconds by balancers: no traces of them. */
const isHealth = /\/health(\/|$)/;

/**
 * The outermost middleware: sets the request id for log lines and the response header, measures the duration, and begins the span.
 * @param options.trustTraceParent whether the trace of a request goes on from its `traceparent`; else every request begins one
 */
export function observe(log: Logger, { trustTraceParent }: { trustTraceParent: boolean }): Middleware {
  return async (ctx, next) => {
    const startedAt = process.hrtime.bigint();
    const requestId = ctx.get('X-Request-Id');
    ctx.state.requestId = safeRequestId.test(requestId) ? requestId : newId();
    const given = ctx.get('traceparent');
    const span = beginSpan(ctx, trustTraceParent ? readTraceParent(given) : undefined);
    ctx.state.traceId = span?.traceId ?? traceparent.exec(given)?.[1] ?? null;
    ctx.state.log = log.child({ request_id: ctx.state.requestId, ...(ctx.state.traceId && { trace_id: ctx.state.traceId }) });
    ctx.set('X-Request-Id', ctx.state.requestId);
    ctx.set('X-Content-Type-Options', 'nosniff');
    ctx.set('Cache-Control', 'no-store');
    const closed = new Promise((resolve) => ctx.res.once('close', resolve));
    try {
      await (span ? span.run(next) : next());
    } finally {
      endSpan(ctx, span);
      const seconds = Number(process.hrtime.bigint() - startedAt) / 1e9;
      // once the response is out: whoever has asked does not wait for the log
      void closed.then(() => report(ctx, seconds));
    }
  };
}

const beginSpan = (ctx: GatewayContext, traceParent: string | undefined): OpenSpan | undefined =>
  isHealth.test(ctx.path) ? undefined : getTracer()?.beginRequest('HTTP', { kind: 'server' }, traceParent);

/** The errors of handlers are answers by now. */
function endSpan(ctx: GatewayContext, span: OpenSpan | undefined): void {
  if (!span) return;
  const { method, route } = toLabels(ctx);
  span.rename(`${method} ${route}`);
  span.set({
    ...(method !== 'other' && { 'http.request.method': method }),
    ...(route !== 'none' && { 'http.route': route }),
    'http.response.status_code': ctx.status,
  });
  span.end(ctx.status >= 500 ? new ServerError() : undefined);
}

class ServerError extends Error {
  override readonly name = 'ServerError';
}

/** The route template, not the path: every id would create a new time series. */
const toLabels = (ctx: GatewayContext): { method: string; route: string } => ({
  method: knownMethods.has(ctx.method) ? ctx.method : 'other',
  route: typeof ctx._matchedRoute === 'string' ? ctx._matchedRoute : 'none',
});

function report(ctx: GatewayContext, seconds: number): void {
  const { method, route } = toLabels(ctx);
  durations.observe({ method, route, status: ctx.status }, seconds);
  const { clientId, userId } = ctx.state.caller ?? {};
  const about = { client_id: clientId, user_id: userId, tx_id: findTxId(ctx) };
  ctx.state.log.info({ method: ctx.method, route, status: ctx.status, ms: Math.round(seconds * 1e3), ...about }, 'request');
}

/** Longer answers are lists and documents. */
const maxAnswerLength = 4_096;

/** The transaction that the request names in its path, else the one that its answer names: made by it, or by an earlier one with the same key. */
function findTxId({ params, body }: GatewayContext): string | undefined {
  const inPath = (params as Record<string, string> | undefined)?.tx_id;
  const named = inPath ?? (typeof body === 'string' ? findInText(body) : findInAnswer(body));
  // what a caller has put into the path may be anything
  return named !== undefined && isUuid(named) ? named : undefined;
}

/** At the top level alone: what is deeper is one of several. */
function findInText(body: string): string | undefined {
  if (body.length > maxAnswerLength) return undefined;
  try {
    return findInAnswer(JSON.parse(body));
  } catch {
    return undefined;
  }
}

function findInAnswer(body: unknown): string | undefined {
  const { tx_id: id, txId } = (body ?? {}) as { tx_id?: unknown; txId?: unknown };
  return [id, txId].find((one) => typeof one === 'string');
}
