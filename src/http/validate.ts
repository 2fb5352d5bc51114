import Joi from 'joi';
import type { FailureCode } from '../platform/codes';
import { type FieldError, GatewayError, invalidParameter } from '../platform/errors';
import type { GatewayContext } from './context';
import { readJson, readObject } from './read-body';
import { type DocumentedMiddleware, documented } from './route';

const messages: Joi.LanguageMessages = {
  'object.unknown': 'is not a known field',
  'any.required': 'is required',
  'string.empty': 'must not be empty',
  // the name of a pattern is the sentence about it: see `matching`
  'string.pattern.name': '{{#label}} {{#name}}',
};
const options: Joi.ValidationOptions = { abortEarly: false, errors: { wrap: { label: false } }, messages };
const maxFieldErrors = 20;

type Check<T> = (input: unknown) => T;

/**
 * A function that checks its input against the schema and throws GatewayError invalid_parameter naming each offending field. The options
 * are bound to the schema once: given with each call, Joi would compile the messages each time.
 */
function createCheck<T>(schema: Joi.ObjectSchema<T>, convert: boolean): Check<T> {
  const bound = schema.prefs({ ...options, convert });
  return (input) => {
    const result = bound.validate(input);
    if (!result.error) return result.value;
    const fields = result.error.details.slice(0, maxFieldErrors).map(fieldError);
    const [first] = fields;
    throw new GatewayError('invalid_parameter', first ? `${first.field}: ${first.message}` : 'The request is not valid', {
      fields,
    });
  };
}

function fieldError({ path, message, context }: Joi.ValidationErrorItem): FieldError {
  const label = context?.label ?? '';
  return {
    field: path.join('.').slice(0, 200) || 'body',
    message: (message.startsWith(`${label} `) ? message.slice(label.length + 1) : message).slice(0, 300),
  };
}

const bodyFailures = ['invalid_parameter', 'payload_too_large', 'unsupported_media_type'] as const satisfies FailureCode[];

/** Validates the JSON body without type conversion; a missing one counts as an empty object. */
export function body<T>(schema: Joi.ObjectSchema<T>): DocumentedMiddleware {
  const check = createCheck(schema, false);
  return documented({ body: schema, fails: [...bodyFailures] }, async (ctx, next) => {
    ctx.state.body = check(await readObject(ctx));
    return next();
  });
}

/**
 * Takes any JSON value within the limits of `readJson`, whatever its fields; a missing body counts as an empty object. `schema` is for the document only: the handler
 * says in its answer what is wrong with a body.
 */
export function openBody(schema: Joi.Schema): DocumentedMiddleware {
  return documented({ openBody: schema, fails: [...bodyFailures] }, async (ctx, next) => {
    const value = await readJson(ctx);
    ctx.state.body = value === undefined ? {} : value;
    return next();
  });
}

/** What the route's `openBody` middleware has read. */
export const getOpenBody = (ctx: GatewayContext): unknown => ctx.state.body;

/** The body that the route's `body(schema)` middleware has validated. */
export function getBody<T>(ctx: GatewayContext, _schema: Joi.ObjectSchema<T>): T {
  return ctx.state.body as T;
}

/** Validates the query string, converts numbers and sets defaults. */
export function query<T>(schema: Joi.ObjectSchema<T>): DocumentedMiddleware {
  const check = createCheck(schema, true);
  return documented({ query: schema, fails: ['invalid_parameter'] }, async (ctx, next) => {
    // Joi ignores this name
    if (Object.hasOwn(ctx.query, '__proto__')) throw invalidParameter('__proto__', 'is not a known field');
    ctx.state.query = check({ ...ctx.query });
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
