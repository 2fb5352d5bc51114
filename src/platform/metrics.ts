import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { collectDefaultMetrics, Registry } from 'prom-client';

/** The process's metrics; every part registers its own here. */
export const metrics = new Registry();
let defaults = false;

/** A boolean decides on readiness; a string only informs. */
export type HealthChecks = Record<string, boolean | string>;

export interface HealthListenerOptions {
  host: string;
  /** 0 picks a free port. */
  port: number;
  ready: () => Promise<HealthChecks>;
  /** Default: alive as long as it answers. */
  live?: () => boolean;
}

export interface HealthListener {
  host: string;
  port: number;
  close(): Promise<void>;
}

/** A check that does not answer in time counts as failed; a probe must not hang with what it probes. */
const checkTimeoutMs = 4_000;

/** Serves GET /health/live, /health/ready (200 or 503 with the checks) and /metrics. @throws when the port is taken. */
export async function startHealthListener({
  host,
  port,
  ready,
  live = () => true,
}: HealthListenerOptions): Promise<HealthListener> {
  if (!defaults) collectDefaultMetrics({ register: metrics });
  defaults = true;
  const answers: Record<string, (response: ServerResponse) => Promise<void> | void> = {
    '/health/live': (response) => {
      const alive = live();
      json(response, alive ? 200 : 503, { status: alive ? 'live' : 'dead' });
    },
    '/health/ready': async (response) => {
      const checks = await withTimeout(ready());
      const isReady = Object.values(checks).every((check) => check !== false);
      json(response, isReady ? 200 : 503, { status: isReady ? 'ready' : 'not_ready', checks });
    },
    '/metrics': async (response) => {
      const text = await metrics.metrics();
      response.writeHead(200, { 'content-type': metrics.contentType }).end(text);
    },
  };
  const listener: RequestListener = (request, response) => {
    const answer = request.method === 'GET' ? answers[request.url?.split('?')[0] ?? ''] : undefined;
    if (!answer) return json(response, 404, { status: 'not_found' });
    Promise.resolve(answer(response)).catch(() => json(response, 503, { status: 'not_ready' }));
  };
  const server = createServer({ requestTimeout: 5_000, headersTimeout: 5_000, maxHeaderSize: 8 * 1024 }, listener);
  server.maxConnections = 64;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  return {
    host,
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function json(response: ServerResponse, status: number, body: object): void {
  if (!response.headersSent) response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify(body));
}

async function withTimeout(checks: Promise<HealthChecks>): Promise<HealthChecks> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<HealthChecks>((resolve) => {
    timer = setTimeout(() => resolve({ answered_in_time: false }), checkTimeoutMs);
  });
  return Promise.race([checks, late]).finally(() => clearTimeout(timer));
}
