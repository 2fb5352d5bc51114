import Joi from 'joi';
import { invalidParameter } from '../platform/errors';
import type { GatewayContext } from './context';
import type { Route, DocumentedMiddleware } from './route';

const missing = () => invalidParameter('id', 'is required in the path');

/** A path parameter that names a resource. @throws GatewayError invalid_parameter when it is blank. */
export function resourceId(ctx: GatewayContext, name: string): string {
  const id = ctx.params[name];
  if (!id?.trim()) throw missing();
  return id;
}

/** A route such as GET /wallets/, where the id is missing: the specification requires invalid_parameter. */
export function withoutId(path: string, tag: string, authenticate: DocumentedMiddleware): Route {
  return {
    method: 'get',
    path,
    id: null,
    tag,
    summary: 'Read without an id',
    middleware: [authenticate],
    answer: { status: 200, description: '', schema: Joi.object() },
    fails: ['invalid_parameter'],
    handle: () => Promise.reject(missing()),
  };
}
