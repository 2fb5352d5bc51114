import { RateLimiterMemory } from 'rate-limiter-flexible';
import type { DataSource } from 'typeorm';
import { getCaller, type GatewayContext } from '../context';
import { getFieldNames, type Route, type DocumentedMiddleware, documented } from '../route';
import { type Quota, DistributedQuota, sharedCounter } from './distributed-quota';
import { setInFlightHeaders, setQuotaHeaders } from './headers';
import { network } from '../../platform/network';
import { tooMany } from './refusals';
import type { LimitSettings } from './settings';

/** Short, so that a client with a spent quota does not wait long; a burst can use a sixth of the limit per minute. */
const windowSeconds = 10;
/** Of one address to health, in one process: without the database, which may be what is not well. */
const operationalQuota: Quota = { name: 'operational', limit: 50, windowSeconds: 1 };

/** Request limits: per address before authentication, per client after it. */
export class RequestLimits {
  /** Runs before all requests except health. */
  readonly everyRequest: DocumentedMiddleware;
  /** For the route that issues tokens. */
  readonly token: DocumentedMiddleware;
  private readonly operational: DocumentedMiddleware;
  private readonly client: DocumentedMiddleware;
  private readonly mfa: DocumentedMiddleware;
  /** Requests in flight, per client id and in total. */
  private readonly inFlightOf = new Map<string, number>();
  private inFlight = 0;

  constructor(
    database: DataSource,
    private readonly settings: LimitSettings,
  ) {
    const createQuota = (name: Quota['name'], perMinute: number): DistributedQuota => {
      const quota = { name, limit: Math.ceil((perMinute * windowSeconds) / 60), windowSeconds };
      return new DistributedQuota(quota, sharedCounter(database, quota, settings.storeTimeoutMs));
    };
    const [address, token] = [createQuota('address', settings.addressPerMinute), createQuota('token', settings.tokenPerMinute)];
    const [client, mfa] = [createQuota('client', settings.clientPerMinute), createQuota('mfa', settings.mfaPerMinute)];
    this.everyRequest = documented({ fails: ['rate_limited', 'unavailable'] }, async (ctx, next) => {
      await limitAddress(ctx, address);
      return this.withinProcess(next);
    });
    const { limit: points, windowSeconds: duration } = operationalQuota;
    const operational = new DistributedQuota(operationalQuota, new RateLimiterMemory({ points, duration }));
    this.operational = documented({ fails: ['rate_limited'] }, async (ctx, next) => {
      await limitAddress(ctx, operational);
      return next();
    });
    this.token = documented({ limited: true, fails: ['rate_limited'] }, async (ctx, next) => {
      await spend(ctx, token, network(ctx.ip), 'token');
      return next();
    });
    this.client = documented({ limited: true, fails: ['rate_limited'] }, async (ctx, next) => {
      const { clientId } = getCaller(ctx);
      await spend(ctx, client, clientId, 'client');
      return this.withinClient(ctx, clientId, next);
    });
    this.mfa = documented({ limited: true, fails: ['rate_limited'] }, async (ctx, next) => {
      await spend(ctx, mfa, getCaller(ctx).clientId, 'mfa');
      return next();
    });
  }

  /**
   * Adds the limits to all routes: that of the client directly after authentication, and a stricter one where the body has an
   * mfa_code. Routes do not add limits themselves, so none can omit them.
   */
  guard(routes: Route[]): Route[] {
    // the limit itself runs before the router, so that requests to unknown paths count too; here it is only documented
    const documentOnly = documented(this.everyRequest.docs, (_ctx, next) => next());
    return routes.map((route) => {
      const middleware = route.middleware.flatMap((each) =>
        each.docs.authenticated ? [each, ...this.clientLimits(route)] : [each],
      );
      return { ...route, middleware: [documentOnly, ...middleware] };
    });
  }

  /** Adds a limit to the routes that are served when everything else is refused. */
  guardOperational(routes: Route[]): Route[] {
    return routes.map((route) => ({ ...route, middleware: [this.operational, ...route.middleware] }));
  }

  private clientLimits({ middleware }: Route): DocumentedMiddleware[] {
    const takesCode = middleware.some(({ docs }) => docs.body !== undefined && getFieldNames(docs.body).includes('mfa_code'));
    return takesCode ? [this.client, this.mfa] : [this.client];
  }

  private async withinProcess(next: () => Promise<unknown>): Promise<unknown> {
    if (this.inFlight >= this.settings.inFlight)
      throw tooMany('process_in_flight', 'Too many requests at once: wait and try again', 1);
    this.inFlight += 1;
    try {
      return await next();
    } finally {
      this.inFlight -= 1;
    }
  }

  private async withinClient(ctx: GatewayContext, clientId: string, next: () => Promise<unknown>): Promise<unknown> {
    const { inFlightPerClient } = this.settings;
    const count = this.inFlightOf.get(clientId) ?? 0;
    if (count >= inFlightPerClient) {
      setInFlightHeaders(ctx, inFlightPerClient);
      throw tooMany('client_in_flight', `More than ${inFlightPerClient} requests at once: wait for responses`, 1);
    }
    this.inFlightOf.set(clientId, count + 1);
    try {
      return await next();
    } finally {
      const left = (this.inFlightOf.get(clientId) ?? 1) - 1;
      if (left > 0) this.inFlightOf.set(clientId, left);
      else this.inFlightOf.delete(clientId);
    }
  }
}

/** @throws GatewayError rate_limited when the quota is spent. */
async function spend(
  ctx: GatewayContext,
  quota: DistributedQuota,
  key: string,
  reason: 'token' | 'client' | 'mfa',
): Promise<void> {
  const status = await quota.take(key);
  setQuotaHeaders(ctx, status);
  if (!status.allowed) throw tooMany(reason, 'Too many requests: wait and try again', status.resetSeconds);
}

/** As `spend`, for quotas that are shown only when they are spent. @throws GatewayError rate_limited */
async function limitAddress(ctx: GatewayContext, quota: DistributedQuota): Promise<void> {
  const status = await quota.take(network(ctx.ip));
  if (status.allowed) return;
  setQuotaHeaders(ctx, status);
  throw tooMany('address', 'Too many requests from this address: wait and try again', status.resetSeconds);
}
