import Joi from 'joi';
import { failureCodes } from '../platform/codes';

/** Building blocks of the Joi schemas: the common definitions of texts, ids and amounts. */

/**
 * A string of this form. `sentence` follows the field's name where a value has another one. It is the name of the pattern, since Joi compiles
 * the messages of a schema again for each value that is checked.
 */
export const matching = (pattern: RegExp, sentence: string): Joi.StringSchema =>
  Joi.string().pattern(pattern, { name: sentence });

const noControl = 'must not contain control characters';
const isMoment = 'must be a time such as 2026-01-31T12:00:00Z';

/**
 * Free text: no control characters (an operator's terminal could interpret them; Postgres refuses NUL), no lone surrogates. `max`
 * counts characters, as Postgres does, not UTF-16 units.
 */
export const text = (max: number): Joi.StringSchema =>
  Joi.string()
    // spelt so that every implementation of regular expressions reads it
    .pattern(/^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*$/, { name: noControl })
    .custom((value: string, helpers) => {
      if (/\p{Cs}/u.test(value)) return helpers.error('string.pattern.name', { name: noControl });
      return [...value].length > max ? helpers.error('string.max', { limit: max }) : value;
    })
    .meta({ 'x-max-characters': max });

/** What the document says of a field in place of its pattern: the server checks in steps, each with its own sentence. */
export const documentedPattern = ({ source }: RegExp) => ({ 'x-pattern': source });

/** Like `text`, with at least one visible character. */
export const visibleText = (max: number): Joi.StringSchema =>
  text(max)
    .custom((value: string, helpers) => (value.trim() === '' ? helpers.error('string.empty') : value))
    .meta(documentedPattern(visiblePattern));

const visiblePattern =
  /^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*[^\s\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f][^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*$/;

export const id = (): Joi.StringSchema => Joi.string().guid().example('0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a');
/** An id given as filter or reference: any other text is accepted and not found. */
export const reference = (): Joi.StringSchema => Joi.string().max(36);
export const chainName = (): Joi.StringSchema =>
  matching(/^[a-z0-9-]{1,64}$/, 'is not the name of an enabled chain').example('ethereum');
/** What a client calls a resource of its own. */
export const externalId = (): Joi.StringSchema =>
  matching(/^[A-Za-z0-9._:-]{1,64}$/, 'must be 1 to 64 letters, digits or characters of . _ : -').example('order-4711');
export const timestamp = (): Joi.StringSchema => Joi.string().isoDate().example('2026-01-31T12:00:00.000Z');
/** A moment as clients give it (RFC 3339, with its offset from UTC), read as a Date: what is below a millisecond is dropped. */
export const moment = (): Joi.StringSchema =>
  matching(/^[12]\d{3}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/, isMoment)
    .custom((value: string, helpers) => readMoment(value) ?? helpers.error('string.pattern.name', { name: isMoment }))
    .example('2026-01-31T12:00:00.000Z');

function readMoment(text: string): Date | null {
  const [year = 0, month = 0, day = 0] = text.slice(0, 10).split('-').map(Number);
  // Date takes February 30th for March 2nd
  if (day > new Date(Date.UTC(year, month, 0)).getUTCDate()) return null;
  const date = new Date(text.replace(' ', 'T').toUpperCase());
  return Number.isNaN(date.getTime()) ? null : date;
}

export const amountOut = (): Joi.StringSchema =>
  Joi.string()
    .pattern(/^-?\d+(\.\d+)?$/)
    .example('1.5')
    .description('Decimal string, display units');

/** One of these texts: a named component of the OpenAPI document. */
export const oneOf = (name: string, values: readonly string[]): Joi.StringSchema =>
  Joi.string()
    .valid(...values)
    .meta({ 'x-component': name });

/** Why a request was refused or a transfer failed. */
export const failureCode = (): Joi.StringSchema => oneOf('FailureCode', Object.keys(failureCodes));

export interface PageQuery {
  page: number;
  page_size: number;
}

export const pageFields = {
  page: Joi.number().integer().min(1).max(Number.MAX_SAFE_INTEGER).default(1).description('Page number, from 1'),
  page_size: Joi.number().integer().min(1).max(100).default(10).description('Items per page'),
};

/** A response object: a named component of the OpenAPI document whose fields are all required. */
export function view<T extends object>(name: string, fields: Record<keyof T, Joi.Schema>): Joi.ObjectSchema<T> {
  const required = Object.fromEntries(
    Object.entries<Joi.Schema>(fields).map(([field, schema]) => [field, schema.required()] as const),
  );
  return Joi.object<T>(required as Joi.PartialSchemaMap<T>).meta({ 'x-component': name });
}

/** An amount of coins or tokens, display units. */
export interface Coins {
  amount: string;
  symbol: string;
}

export const coins = (): Joi.ObjectSchema<Coins> => view<Coins>('Coins', { amount: amountOut(), symbol: Joi.string() });

export interface Page<T> {
  data: T[];
  total: number;
  has_more: boolean;
}

export const pageViewFields = <T extends object>(item: Joi.ObjectSchema<T>) => ({
  data: Joi.array().items(item),
  total: Joi.number().integer().min(0).description('Total number of items'),
  has_more: Joi.boolean().description('True when there are items beyond this page'),
});

export const pageSchema = <T extends object>(item: Joi.ObjectSchema<T>, name: string): Joi.ObjectSchema<Page<T>> =>
  view<Page<T>>(name, pageViewFields(item));
