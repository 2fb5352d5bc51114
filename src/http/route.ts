import type Joi from 'joi';
import type { FailureCode } from '../platform/codes';
import type { GatewayContext, Middleware } from './context';

/** What a middleware adds to the OpenAPI description of every route that uses it. */
export interface MiddlewareDocs {
  authenticated?: true;
  /** Responses have rate limit headers. */
  limited?: true;
  query?: Joi.ObjectSchema;
  body?: Joi.ObjectSchema;
  /** What clients send as a rule, where any JSON is taken. */
  openBody?: Joi.Schema;
  headers?: HeaderParameter[];
  fails?: FailureCode[];
}

export interface HeaderParameter {
  name: string;
  description: string;
  required: boolean;
  schema: Record<string, unknown>;
}

/** A middleware with its contribution to the OpenAPI document, so that code and documentation stay consistent. */
export type DocumentedMiddleware = Middleware & { readonly docs: MiddlewareDocs };

export function documented(docs: MiddlewareDocs, middleware: Middleware): DocumentedMiddleware {
  return Object.assign(middleware.bind(null), { docs });
}

/** Names of a body's fields. */
export const getFieldNames = (schema: Joi.ObjectSchema): string[] =>
  Object.keys((schema.describe() as { keys?: object }).keys ?? {});

/** One endpoint: its middleware in order, then the handler. Used by the router and for the OpenAPI document. */
export interface Route {
  method: 'get' | 'post' | 'put' | 'delete';
  /** Koa notation below the base path, such as /wallets/:id. */
  path: string;
  /** A second path of the same endpoint; not in the document. */
  alsoAt?: string;
  /** operationId; null keeps the route out of the document. */
  id: string | null;
  tag: string;
  summary: string;
  description?: string;
  middleware: DocumentedMiddleware[];
  answer: { status: number; description: string; schema: Joi.Schema; location?: true };
  /** Failures of the handler; those of the middleware are in its docs. */
  fails: FailureCode[];
  handle: (ctx: GatewayContext) => Promise<void> | void;
}
