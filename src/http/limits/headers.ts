import type { GatewayContext } from '../context';
import type { QuotaStatus } from './distributed-quota';

/**
 * RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers): a quota of `q` requests per window of `w` seconds, with `r`
 * requests left and the full quota again in `t` seconds. If several quotas apply to a request, all of them are listed.
 */
export function setQuotaHeaders(ctx: GatewayContext, { quota, remaining, resetSeconds }: QuotaStatus): void {
  add(ctx, 'RateLimit-Policy', `"${quota.name}";q=${quota.limit};w=${quota.windowSeconds}`);
  add(ctx, 'RateLimit', `"${quota.name}";r=${remaining};t=${resetSeconds}`);
}

/** The limit of concurrent requests; sent only when it was reached. */
export function setInFlightHeaders(ctx: GatewayContext, limit: number): void {
  add(ctx, 'RateLimit-Policy', `"in-flight";q=${limit};qu="concurrent-requests"`);
  add(ctx, 'RateLimit', '"in-flight";r=0;t=1');
}

function add(ctx: GatewayContext, name: string, item: string): void {
  const items = ctx.response.get(name);
  ctx.set(name, items ? `${items}, ${item}` : item);
}
