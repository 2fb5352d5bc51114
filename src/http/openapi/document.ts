import Joi from 'joi';
import { basePath } from '../router';
import { getFieldNames, type MiddlewareDocs, type Route } from '../route';
import { serveDocument } from '../serve-document';
import { toResponses } from './answers';
import { Components, type Json, toComponentName } from './components';
import { type EventDocs, toWebhooks } from './events';
import { problemSchemas } from './problem';
import { describeTag } from './tags';

/** What the document is made of beside the routes. */
export interface DocumentParts {
  /** Shown as the environment. */
  environment: string;
  /** What webhook endpoints are sent. */
  events: EventDocs[];
}

/** The route of the OpenAPI 3.1 document, which is created once from the middleware and Joi schemas of all routes, itself included. */
export function createOpenApi(routesWith: (route: Route) => Route[], parts: DocumentParts): Route {
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
  const served = serveDocument(toDocument(routesWith(route), parts));
  return route;
}

/** The document of a set of routes. */
export function toDocument(routes: Route[], { environment, events }: DocumentParts): Json {
  const components = new Components();
  const paths: Record<string, Json> = {};
  for (const route of routes.filter(({ id }) => id !== null)) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    (paths[path] ??= {})[route.method] = toOperation(route, components);
  }
  const webhooks = toWebhooks(events, components);
  const { schemas, ...others } = components.parts;
  return {
    openapi: '3.1.0',
    info: {
      title: 'Custodial wallet gateway',
      version: '1.0.0',
      description: `Environment: ${environment}. Amounts are decimal strings in display units; timestamps are UTC.`,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: basePath }],
    security: [{ accessToken: [] }],
    tags: [...new Set(routes.map(({ tag }) => tag))].map(describeTag),
    paths,
    webhooks,
    components: {
      securitySchemes: { accessToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
      schemas: { ...schemas, ...problemSchemas },
      ...others,
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
    parameters: [...pathParameters(route), ...queryParameters(docs, components), ...headerParameters(docs)].map((parameter) =>
      components.named('parameters', toComponentName(parameter['name'] as string), parameter),
    ),
    ...requestBody(route, docs, components),
    responses: toResponses(route, docs, components),
  };
}

function requestBody({ id }: Route, docs: MiddlewareDocs[], components: Components): Json {
  const { body, openBody } = docs.find((part) => part.body ?? part.openBody) ?? {};
  const schema = openBody ?? (body && getFieldNames(body).length > 0 ? body : undefined);
  if (!schema) return {};
  const input = components.toInput(schema);
  // a body that several routes take has a name of its own
  const named = '$ref' in input ? input : components.named('schemas', `${toComponentName(id ?? '')}Request`, input);
  return { requestBody: { required: true, content: { 'application/json': { schema: named } } } };
}

/** As `resourceId` (src/http/resource-id.ts) reads them. */
const pathParameter = { type: 'string', minLength: 1, pattern: '\\S' };
const pathParameters = ({ path }: Route): Json[] =>
  [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: pathParameter }));

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
