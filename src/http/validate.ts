import Joi from 'joi';
import { bodyParser } from '@koa/bodyparser';
import type { FailureCode } from '../platform/codes';
import { type FieldError, GatewayError, invalidParameter } from '../platform/errors';
import type { GatewayContext } from './context';
import { type DocumentedMiddleware, documented } from './route';

const messages: Joi.LanguageMessages = {
  'object.unknown': 'is not a known field',
  'any.required': 'is required',
  'string.empty': 'must not be empty',
};
const options: Joi.ValidationOptions = { abortEarly: false, errors: { wrap: { label: false } }, messages };
const maxFieldErrors = 20;

/** Checks `input` against a schema. @throws GatewayError invalid_parameter naming each offending field. */
function check<T>(schema: Joi.ObjectSchema<T>, input: unknown, convert: boolean): T {
  const result = schema.validate(input, { ...options, convert });
  if (!result.error) return result.value;
  const fields = result.error.details.slice(0, maxFieldErrors).map(fieldError);
  const [first] = fields;
  throw new GatewayError('invalid_parameter', first ? `${first.field}: ${first.message}` : 'The request is not valid', {
    fields,
  });
}

function fieldError({ path, message, context }: Joi.ValidationErrorItem): FieldError {
  const label = context?.label ?? '';
  return {
    field: path.join('.').slice(0, 200) || 'body',
    message: (message.startsWith(`${label} `) ? message.slice(label.length + 1) : message).slice(0, 300),
  };
}

const maxBodyBytes = 100 * 1024;
const parsedMethods = ['POST', 'PUT', 'DELETE'];
const readObject = bodyParser({ enableTypes: ['json'], jsonLimit: maxBodyBytes, jsonStrict: true, parsedMethods });
/** The text of a JSON body: the parser for objects refuses other values, and fields such as __proto__. */
const readText = bodyParser({
  enableTypes: ['text'],
  extendTypes: { text: ['application/json'] },
  textLimit: maxBodyBytes,
  parsedMethods,
});

const hasBody = (ctx: GatewayContext): boolean =>
  ctx.get('Transfer-Encoding') !== '' || Number(ctx.get('Content-Length') || 0) > 0;

/** Reads a JSON body of at most 100 KB into ctx.request.body, which stays undefined without a body. */
async function readBody(ctx: GatewayContext, read: typeof readObject): Promise<void> {
  if (!hasBody(ctx)) return;
  if (!/^application\/json\s*(;|$)/i.test(ctx.get('Content-Type'))) {
    throw new GatewayError('unsupported_media_type', 'The body has to be sent as application/json');
  }
  try {
    await read(ctx, () => Promise.resolve());
  } catch (error) {
    // discards the unread rest: if it stayed paused, it would block the next request of the connection
    ctx.req.unpipe();
    ctx.req.resume();
    throw bodyError(error);
  }
}

function bodyError(cause: unknown): unknown {
  const { status } = cause as { status?: number };
  if (status === 413) return new GatewayError('payload_too_large', 'The body is larger than 100 KB', { cause });
  if (status === 415)
    return new GatewayError('unsupported_media_type', 'The content encoding or character set is not supported', { cause });
  if (status !== 400 && !(cause instanceof SyntaxError) && !isBrokenCompression(cause)) return cause;
  return notJson(cause, 'is not a JSON object');
}

const notJson = (cause: unknown, message: string): GatewayError =>
  new GatewayError('invalid_parameter', 'The body is not valid JSON', { cause, fields: [{ field: 'body', message }] });

/** A body that does not match its Content-Encoding: zlib has codes such as Z_DATA_ERROR, Brotli ERR__ERROR_FORMAT_… */
const isBrokenCompression = (cause: unknown): boolean => /^(Z_|ERR__)/.test(String((cause as { code?: unknown }).code));

const bodyFailures = ['invalid_parameter', 'payload_too_large', 'unsupported_media_type'] as const satisfies FailureCode[];

/** Validates the JSON body without type conversion; a missing one counts as an empty object. */
export function body<T>(schema: Joi.ObjectSchema<T>): DocumentedMiddleware {
  return documented({ body: schema, fails: [...bodyFailures] }, async (ctx, next) => {
    await readBody(ctx, readObject);
    ctx.state.body = check(schema, ctx.request.body ?? {}, false);
    return next();
  });
}

/**
 * Takes any JSON value, whatever its fields; a missing body counts as an empty object. `schema` is for the document only: the handler
 * says in its answer what is wrong with a body.
 */
export function openBody(schema: Joi.Schema): DocumentedMiddleware {
  return documented({ openBody: schema, fails: [...bodyFailures] }, async (ctx, next) => {
    await readBody(ctx, readText);
    ctx.state.body = parseJson(ctx.request.body ?? '{}');
    return next();
  });
}

/** @throws GatewayError invalid_parameter */
function parseJson(body: unknown): unknown {
  try {
    return JSON.parse(String(body));
  } catch (error) {
    throw notJson(error, 'is not JSON');
  }
}

/** What the route's `openBody` middleware has read. */
export const getOpenBody = (ctx: GatewayContext): unknown => ctx.state.body;

/** The body that the route's `body(schema)` middleware has validated. */
export function getBody<T>(ctx: GatewayContext, _schema: Joi.ObjectSchema<T>): T {
  return ctx.state.body as T;
}

/** Validates the query string, converts numbers and sets defaults. */
export function query<T>(schema: Joi.ObjectSchema<T>): DocumentedMiddleware {
  return documented({ query: schema, fails: ['invalid_parameter'] }, async (ctx, next) => {
    // Joi ignores this name
    if (Object.hasOwn(ctx.query, '__proto__')) throw invalidParameter('__proto__', 'is not a known field');
    ctx.state.query = check(schema, { ...ctx.query }, true);
    return next();
  });
}

export function getQuery<T>(ctx: GatewayContext, _schema: Joi.ObjectSchema<T>): T {
  return ctx.state.query as T;
}

/** For routes without query parameters: a misspelt parameter is an error and not ignored. */
export const noQuery: DocumentedMiddleware = query(Joi.object({}));
/** For POST routes whose body has no fields. */
export const noBody: DocumentedMiddleware = body(Joi.object({}));
