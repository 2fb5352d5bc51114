import type { DataSource } from 'typeorm';
import { getCaller, type GatewayContext } from '../context';
import { getFieldNames, type Route, type DocumentedMiddleware, documented } from '../route';
import { type Quota, DistributedQuota, sharedCounter } from './distributed-quota';
import { setInFlightHeaders, setQuotaHeaders } from './headers';
import { network } from './network';
import { tooMany } from './refusals';
import type { LimitSettings } from './settings';

/** Short, so that who has spent a quota soon gets the next one; a sixth of what is allowed a minute can come at once. */
const windowSeconds = 10;

/** Limits on how much is asked, per address before authentication and per client after it. */
export class RequestLimits {
  /** Stands before everything but health and metrics. */
  readonly everyRequest: DocumentedMiddleware;
  /** For the route that issues tokens. */
  readonly token: DocumentedMiddleware;
  private readonly client: DocumentedMiddleware;
  private readonly mfa: DocumentedMiddleware;
  private readonly clients = new Map<string, number>();
  private total = 0;

  constructor(
    database: DataSource,
    private readonly settings: LimitSettings,
  ) {
    const budget = (name: Quota['name'], perMinute: number): DistributedQuota => {
      const quota = { name, limit: Math.ceil((perMinute * windowSeconds) / 60), windowSeconds };
      return new DistributedQuota(quota, sharedCounter(database, quota));
    };
    const [address, token] = [budget('address', settings.addressPerMinute), budget('token', settings.tokenPerMinute)];
    const [client, mfa] = [budget('client', settings.clientPerMinute), budget('mfa', settings.mfaPerMinute)];
    this.everyRequest = documented({ fails: ['rate_limited', 'unavailable'] }, async (ctx, next) => {
      const standing = await address.take(network(ctx.ip));
      if (!standing.allowed) {
        setQuotaHeaders(ctx, standing);
        throw tooMany('address', 'Too many requests from this address: wait and try again', standing.resetSeconds);
      }
      return this.withinProcess(next);
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
   * The routes with their limits: the client's right after authentication, and the stricter one where the body has an
   * mfa_code. No route has to ask for it, so none can forget.
   */
  guard(routes: Route[]): Route[] {
    // it runs before routes are looked up, so that requests to nowhere count too; here for the document only
    const described = documented(this.everyRequest.docs, (_ctx, next) => next());
    return routes.map((route) => {
      const steps = route.middleware.flatMap((each) => (each.docs.authenticated ? [each, ...this.ofClient(route)] : [each]));
      return { ...route, middleware: [described, ...steps] };
    });
  }

  private ofClient({ middleware: steps }: Route): DocumentedMiddleware[] {
    const takesCode = steps.some(({ docs }) => docs.body !== undefined && getFieldNames(docs.body).includes('mfa_code'));
    return takesCode ? [this.client, this.mfa] : [this.client];
  }

  private async withinProcess(next: () => Promise<unknown>): Promise<unknown> {
    if (this.total >= this.settings.inFlight)
      throw tooMany('process_in_flight', 'Too many requests at once: wait and try again', 1);
    this.total += 1;
    try {
      return await next();
    } finally {
      this.total -= 1;
    }
  }

  private async withinClient(ctx: GatewayContext, clientId: string, next: () => Promise<unknown>): Promise<unknown> {
    const { inFlightPerClient } = this.settings;
    const count = this.clients.get(clientId) ?? 0;
    if (count >= inFlightPerClient) {
      setInFlightHeaders(ctx, inFlightPerClient);
      throw tooMany('client_in_flight', `More than ${inFlightPerClient} requests at once: wait for answers`, 1);
    }
    this.clients.set(clientId, count + 1);
    try {
      return await next();
    } finally {
      const left = (this.clients.get(clientId) ?? 1) - 1;
      if (left > 0) this.clients.set(clientId, left);
      else this.clients.delete(clientId);
    }
  }
}

/** @throws GatewayError rate_limited when the quota is spent. */
async function spend(
  ctx: GatewayContext,
  budget: DistributedQuota,
  key: string,
  reason: 'token' | 'client' | 'mfa',
): Promise<void> {
  const standing = await budget.take(key);
  setQuotaHeaders(ctx, standing);
  if (!standing.allowed) throw tooMany(reason, 'Too many requests: wait and try again', standing.resetSeconds);
}
