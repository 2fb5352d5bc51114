import type Joi from 'joi';
import type { FailureCode } from '../platform/codes';
import type { GatewayContext, Middleware } from './context';

/** What a step adds to the OpenAPI description of every route that has it. */
export interface MiddlewareDocs {
  authenticated?: true;
  /** Answers tell what is left of a quota. */
  limited?: true;
  query?: Joi.ObjectSchema;
  body?: Joi.ObjectSchema;
  headers?: HeaderParameter[];
  fails?: FailureCode[];
}

export interface HeaderParameter {
  name: string;
  description: string;
  required: boolean;
  schema: Record<string, unknown>;
}

/** One middleware of a route, with what it contributes to the document: the code and its description cannot drift apart. */
export type DocumentedMiddleware = Middleware & { readonly docs: MiddlewareDocs };

export function documented(docs: MiddlewareDocs, middleware: Middleware): DocumentedMiddleware {
  return Object.assign(middleware.bind(null), { docs });
}

/** Names of a body's fields. */
export const getFieldNames = (schema: Joi.ObjectSchema): string[] =>
  Object.keys((schema.describe() as { keys?: object }).keys ?? {});

/** One endpoint: its steps in order, then the handler. Read by the router and by the OpenAPI document. */
export interface Route {
  method: 'get' | 'post' | 'put' | 'delete';
  /** Koa notation below the base path, such as /wallets/:id. */
  path: string;
  /** A second path that answers the same; not in the document. */
  alsoAt?: string;
  /** operationId; null keeps the route out of the document. */
  id: string | null;
  tag: string;
  summary: string;
  description?: string;
  middleware: DocumentedMiddleware[];
  answer: { status: number; description: string; schema: Joi.Schema; location?: true; mediaType?: string };
  /** Failures of the handler itself; those of the steps are known. */
  fails: FailureCode[];
  handle: (ctx: GatewayContext) => Promise<void> | void;
}
