import Koa from 'koa';
import type { Logger } from '../platform/logging';
import { endEarlyAnswered } from './connections';
import type { GatewayState } from './context';
import { handleErrors } from './errors';
import type { RequestLimits } from './limits/limits';
import { RefusalPace } from './limits/refusal-pace';
import { observe } from './observe';
import { createOpenApi } from './openapi/document';
import type { EventDocs } from './openapi/events';
import { pointers, referencePage } from './reference-page';
import { createRouter, unmatched } from './router';
import type { Route } from './route';
import { wellFormed } from './well-formed';

export interface AppOptions {
  log: Logger;
  /** True behind a proxy that sets X-Forwarded-For itself. */
  trustProxy: boolean;
  /** True behind a proxy that sets or removes `traceparent` itself. */
  trustTraceParent?: boolean;
  /** The routes of all resources, in the order of the OpenAPI document. */
  routes: Route[];
  /** Health: also served without the base path, and with a limit of its own. */
  operational: Route[];
  /** What webhook endpoints are sent. */
  events: EventDocs[];
  limits: RequestLimits;
  pace?: RefusalPace;
  /** Shown as `environment` in the document. */
  environment: string;
}

/** The Koa application: the middleware of all requests, then the routes. */
export function createApp({
  log,
  trustProxy,
  trustTraceParent = false,
  routes,
  operational,
  events,
  limits,
  pace = new RefusalPace(),
  environment,
}: AppOptions): Koa<GatewayState> {
  // only the last address of X-Forwarded-For comes from the proxy; earlier ones can be forged by the caller
  const app = new Koa<GatewayState>({ proxy: trustProxy, maxIpsCount: 1 });
  app.silent = true;
  const health = limits.guardOperational(operational);
  const documentedRoutes = (document: Route): Route[] => [...limits.guard([...routes, document]), ...health];
  const document = createOpenApi(documentedRoutes, { environment, events });
  app.use(pace.middleware as never);
  app.use(observe(log, { trustTraceParent }) as never);
  app.use(endEarlyAnswered as never);
  app.use(handleErrors as never);
  app.use(wellFormed as never);
  app.use(unmatched as never);
  app.use(createRouter(health).routes() as never);
  app.use(createRouter(health, '').routes() as never);
  app.use(limits.everyRequest as never);
  app.use(createRouter(limits.guard([...routes, document, ...referencePage])).routes() as never);
  app.use(createRouter(pointers, '').routes() as never);
  app.on('error', (error: unknown) => log.warn({ err: error }, 'response failed'));
  return app;
}
