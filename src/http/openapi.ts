import Joi from 'joi';
import parseJoi from 'joi-to-json';
import { failureCodes, type FailureCode } from '../platform/codes';
import { problemMediaType } from './errors';
import { serveDocument } from './serve-document';
import { basePath } from './router';
import { getFieldNames, type Route, type MiddlewareDocs } from './route';

type Json = Record<string, unknown>;

const problem: Json = {
  type: 'object',
  description: 'RFC 9457 problem document',
  properties: {
    type: { type: 'string', format: 'uri' },
    title: { type: 'string' },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: { type: 'string' },
    instance: { type: 'string' },
    code: { type: 'string', enum: Object.keys(failureCodes) },
    request_id: { type: 'string' },
    errors: {
      type: 'array',
      description: 'Offending fields of invalid_parameter',
      items: {
        type: 'object',
        properties: { field: { type: 'string' }, message: { type: 'string' } },
        required: ['field', 'message'],
      },
    },
    tx_id: {
      type: 'string',
      format: 'uuid',
      description: 'With outcome_unknown of POST /transfer: read the outcome with GET /transactions/{tx_id}',
    },
    reason: {
      type: 'string',
      description:
        'With wallet_not_active: generating (try again after Retry-After) or suspended. With not_found of a transfer: unknown_token, unknown_sender or asset_not_added',
    },
    token_symbol: { type: 'string', description: 'With insufficient_balance: the coin or token that is short' },
    available: { type: 'string', description: 'With insufficient_balance: what is available of it, display units' },
    needed: {
      type: 'string',
      description: 'With insufficient_balance: what the transfer takes of it with its fee bound, display units',
    },
  },
  required: ['type', 'title', 'status', 'detail', 'instance', 'code', 'request_id'],
};

/** The route of the OpenAPI 3.1 document, which is created once from the middleware and Joi schemas of all routes, itself included. */
export function createOpenApi(routesWith: (route: Route) => Route[], environment: string): Route {
  const route: Route = {
    method: 'get',
    path: '/openapi.json',
    id: 'getOpenApi',
    tag: 'Operations',
    summary: 'This document',
    middleware: [],
    answer: { status: 200, description: 'OpenAPI 3.1 document', schema: Joi.object().unknown() },
    fails: [],
    handle: (ctx) => served(ctx),
  };
  const served = serveDocument(toDocument(routesWith(route), environment));
  return route;
}

/** The document of a set of routes. */
export function toDocument(routes: Route[], environment: string): Json {
  const components = new Components();
  const paths: Record<string, Json> = {};
  for (const route of routes.filter(({ id }) => id !== null)) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    (paths[path] ??= {})[route.method] = toOperation(route, components);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Custodial wallet gateway',
      version: '1.0.0',
      description: `Environment: ${environment}. Amounts are decimal strings in display units; timestamps are UTC.`,
    },
    servers: [{ url: basePath }],
    security: [{ accessToken: [] }],
    tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: { accessToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
      schemas: { Problem: problem, ...components.schemas },
    },
  };
}

function toOperation(route: Route, components: Components): Json {
  const docs = route.middleware.map((middleware) => middleware.docs);
  return {
    operationId: route.id,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description && { description: route.description }),
    ...(!docs.some(({ authenticated }) => authenticated) && { security: [] }),
    parameters: [...pathParameters(route), ...queryParameters(docs, components), ...headerParameters(docs)],
    ...requestBody(docs, components),
    responses: toResponses(route, docs, components),
  };
}

function requestBody(docs: MiddlewareDocs[], components: Components): Json {
  const { body, openBody } = docs.find((part) => part.body ?? part.openBody) ?? {};
  const schema = openBody ?? (body && getFieldNames(body).length > 0 ? body : undefined);
  if (!schema) return {};
  return { requestBody: { required: true, content: { 'application/json': { schema: components.toInput(schema) } } } };
}

function toResponses({ answer, fails }: Route, docs: MiddlewareDocs[], components: Components): Json {
  const replayable = docs.some(({ headers }) => headers?.some(({ name }) => name === 'Idempotency-Key'));
  const limits = docs.some(({ limited }) => limited) ? rateLimitHeaders(stringHeader) : {};
  const headers = {
    ...(docs.some(({ limited }) => limited) && rateLimitHeaders(always)),
    'X-Request-Id': always('Id of the request: as sent, or generated'),
    ...(answer.location && { Location: always('Path of the created resource') }),
    ...(replayable && { 'Idempotency-Replayed': stringHeader('true when this is the stored response of the first request') }),
  };
  const success = {
    description: answer.description,
    headers,
    content: { 'application/json': { schema: components.toSchema(answer.schema) } },
  };
  // every route refuses unknown query parameters and methods, and can fail
  const codes = new Set<FailureCode>([
    ...docs.flatMap((part) => part.fails ?? []),
    ...fails,
    'invalid_parameter',
    'method_not_allowed',
    'internal_error',
  ]);
  const failures: Record<string, Json> = {};
  for (const status of [...new Set([...codes].map((code) => failureCodes[code].status))].sort()) {
    failures[status] = toFailure(
      [...codes].filter((code) => failureCodes[code].status === status),
      limits,
    );
  }
  return { [answer.status]: success, ...failures };
}

function toFailure(codes: FailureCode[], limits: Json): Json {
  const status = failureCodes[codes[0] as FailureCode].status;
  return {
    description: codes.map((code) => `\`${code}\`: ${failureCodes[code].title}`).join('; '),
    headers: {
      // not for requests that end before the client is known
      ...(![401, 405].includes(status) && limits),
      ...(status === 429 && rateLimitHeaders(always)),
      'X-Request-Id': always('Id of the request: as sent, or generated'),
      ...(status === 401 && { 'WWW-Authenticate': always('Bearer') }),
      ...(status === 405 && { Allow: always('Methods of this path') }),
      ...(codes.includes('wallet_not_active') && {
        'Retry-After': stringHeader('With wallet_not_active of a wallet whose key is being generated: seconds to wait'),
      }),
      ...([429, 503].includes(status) && { 'Retry-After': always('Seconds to wait') }),
    },
    content: { [problemMediaType]: { schema: { $ref: '#/components/schemas/Problem' } } },
  };
}

const stringHeader = (description: string): Json => ({ description, schema: { type: 'string' } });
const always = (description: string): Json => ({ ...stringHeader(description), required: true });

/** draft-ietf-httpapi-ratelimit-headers */
const rateLimitHeaders = (header: typeof always): Json => ({
  'RateLimit-Policy': header('Quotas that apply: requests `q` per `w` seconds, such as "client";q=1000;w=10'),
  RateLimit: header('Remaining quotas: `r` requests, the full quota again in `t` seconds, such as "client";r=998;t=7'),
});

function pathParameters({ path }: Route): Json[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: { type: 'string' } }));
}

function queryParameters(docs: MiddlewareDocs[], components: Components): Json[] {
  const schema = docs.find((part) => part.query)?.query;
  if (!schema) return [];
  const { properties = {}, required = [] } = components.toInput(schema) as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...field }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(description !== undefined && { description }),
    schema: field,
  }));
}

const headerParameters = (docs: MiddlewareDocs[]): Json[] =>
  docs.flatMap((part) => part.headers ?? []).map((header) => ({ in: 'header', ...header }));

interface Described {
  type?: string;
  allow?: unknown[];
  flags?: { only?: boolean };
  keys?: Record<string, Described>;
  items?: Described[];
}

/** Joi refuses "" unless it is allowed, which joi-to-json does not say. */
function notEmpty(json: Json, { type, allow = [], flags, keys = {}, items = [] }: Described): Json {
  if (type === 'string' && !flags?.only && !allow.includes('') && json['minLength'] === undefined)
    return { ...json, minLength: 1 };
  const { properties, items: itemJson } = json as { properties?: Record<string, Json>; items?: Json };
  const [item] = items;
  return {
    ...json,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, field]) => [name, keys[name] ? notEmpty(field, keys[name]) : field]),
      ),
    }),
    ...(item && itemJson && { items: notEmpty(itemJson, item) }),
  };
}

/** Collects named schemas and replaces them by references. */
class Components {
  readonly schemas: Record<string, Json> = {};

  toSchema(schema: Joi.Schema): Json {
    return this.refer(this.inline(schema)) as Json;
  }

  /** The same for what clients send: a text without characters is refused unless the schema allows it. */
  toInput(schema: Joi.Schema): Json {
    return this.refer(notEmpty(this.inline(schema), schema.describe())) as Json;
  }

  private inline(schema: Joi.Schema): Json {
    return parseJoi(schema, 'open-api-3.1') as Json;
  }

  /** Replaces every object with x-component by a $ref, and x-max-characters (src/http/schemas.ts) by maxLength. */
  private refer(node: unknown): unknown {
    if (Array.isArray(node)) return node.map((item) => this.refer(item));
    if (typeof node !== 'object' || node === null) return node;
    const { 'x-component': name, 'x-max-characters': maxLength, ...rest } = node as Json;
    const fields = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, this.refer(value)]));
    // joi-to-json appends the flags to the pattern; JSON Schema has no flags and implies u
    if (typeof fields['pattern'] === 'string') fields['pattern'] = fields['pattern'].replace(/\$\/u$/, '$');
    if (maxLength !== undefined) fields['maxLength'] = maxLength;
    if (typeof name !== 'string') return fields;
    this.schemas[name] = fields;
    return { $ref: `#/components/schemas/${name}` };
  }
}
