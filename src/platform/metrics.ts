import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';
import { alertNames } from './alert-names';

/** The metrics registry of the process. Names begin with `gateway_`, but for those of Node.js itself (`process_`, `nodejs_`). */
export const metrics = new Registry();

export const loggedAlerts = new Counter({
  name: 'gateway_alerts_total',
  help: 'Log lines with the field alert and at least the level error, by that field; docs/runbook/alerts.md says what each means',
  labelNames: ['alert'] as const,
  registers: [metrics],
});
// a series that begins with its first event shows no increase
for (const alert of [...alertNames, 'other']) loggedAlerts.inc({ alert }, 0);

const processInfo = new Gauge({
  name: 'gateway_process_info',
  help: 'Always 1; process: api, worker, authoriser, mpc-node',
  labelNames: ['process'] as const,
  registers: [metrics],
});

export type ProcessName = 'api' | 'worker' | 'authoriser' | 'mpc-node';

let defaults = false;

/** Booleans are checks; strings are information only. */
export type HealthChecks = Record<string, boolean | string>;

/** Whether each check that decides about readiness was made and has succeeded; by default no check may fail. */
export const isReady = (checks: HealthChecks, decisive?: readonly string[]): boolean =>
  decisive ? decisive.every((name) => checks[name] === true) : !Object.values(checks).includes(false);

export interface HealthListenerOptions {
  process: ProcessName;
  host: string;
  /** 0 picks a free port. */
  port: number;
  ready: () => Promise<HealthChecks>;
  /** Names of the checks that decide about readiness: the others are details. Default: all of them. */
  decisive?: readonly string[];
  /** Default: always live. */
  live?: () => boolean;
}

export interface HealthListener {
  host: string;
  port: number;
  close(): Promise<void>;
}

/** A check without a result in time counts as failed: a probe must not hang because of the service it checks. */
const checkTimeoutMs = 4_000;

/** Serves GET /health/live, /health/ready (200 or 503 with the checks) and /metrics. @throws when the port is in use. */
export async function startHealthListener({
  process: name,
  host,
  port,
  ready: measure,
  decisive,
  live = () => true,
}: HealthListenerOptions): Promise<HealthListener> {
  if (!defaults) collectDefaultMetrics({ register: metrics });
  defaults = true;
  processInfo.set({ process: name }, 1);
  const handlers: Record<string, (response: ServerResponse) => Promise<void> | void> = {
    '/health/live': (response) => {
      const isLive = live();
      json(response, isLive ? 200 : 503, { status: isLive ? 'live' : 'dead' });
    },
    '/health/ready': async (response) => {
      const checks = await withTimeout(measure());
      const ready = isReady(checks, decisive);
      json(response, ready ? 200 : 503, { status: ready ? 'ready' : 'not_ready', checks });
    },
    '/metrics': async (response) => {
      const text = await metrics.metrics();
      response.writeHead(200, { 'content-type': metrics.contentType }).end(text);
    },
  };
  const listener: RequestListener = (request, response) => {
    const handler = request.method === 'GET' ? handlers[request.url?.split('?')[0] ?? ''] : undefined;
    if (!handler) return json(response, 404, { status: 'not_found' });
    Promise.resolve(handler(response)).catch(() => json(response, 503, { status: 'not_ready' }));
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
  const timeout = new Promise<HealthChecks>((resolve) => {
    timer = setTimeout(() => resolve({ answered_in_time: false }), checkTimeoutMs);
  });
  return Promise.race([checks, timeout]).finally(() => clearTimeout(timer));
}
