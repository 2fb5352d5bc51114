import Router from '@koa/router';
import { GatewayError } from '../platform/errors';
import type { GatewayContext, GatewayState, Middleware } from './context';
import type { Route } from './route';
import { noQuery } from './validate';

export const basePath = '/api/v1';

/** Mounts the routes below the base path in their order. */
export function createRouter(routes: Route[], prefix = basePath): Router<GatewayState> {
  // strict: /wallets/ lacks an id and is not the list; sensitive: paths are case-sensitive (RFC 3986)
  const router = new Router<GatewayState>({ strict: true, sensitive: true });
  for (const route of routes) {
    const middleware: Middleware[] = route.middleware.some(({ docs }) => docs.query)
      ? route.middleware
      : [...route.middleware, noQuery];
    for (const path of [route.path, ...(route.alsoAt === undefined ? [] : [route.alsoAt])])
      router.register(`${prefix}${path}`, [route.method], [...middleware, respond(route)] as never);
  }
  return router;
}

const respond =
  ({ answer: { status }, handle }: Route): Middleware =>
  async (ctx) => {
    ctx.status = status;
    await handle(ctx);
  };

/** Handles requests that match no route: OPTIONS, methods that a path does not support, unknown paths. */
export const unmatched: Middleware = async (ctx, next) => {
  await next();
  const { matched = [], routeMatched } = ctx as unknown as { matched?: { methods: string[] }[]; routeMatched?: boolean };
  if (routeMatched || ctx.body !== undefined) return;
  const allowed = [...new Set(matched.flatMap(({ methods }) => methods))].sort();
  if (allowed.length === 0) throw new GatewayError('not_found', 'No such resource');
  ctx.set('Allow', [...allowed, 'OPTIONS'].join(', '));
  if (ctx.method !== 'OPTIONS') throw new GatewayError('method_not_allowed', `${printable(ctx.method)} is not allowed here`);
  ctx.status = 204;
};

const printable = (method: string): string => method.slice(0, 20);

/** A path below the base path, for Location. */
export const locate = (ctx: GatewayContext, path: string): void => ctx.set('Location', `${basePath}${path}`);
