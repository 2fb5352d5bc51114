import type Joi from 'joi';
import { GatewayError } from './errors';

/**
 * Path of the first field that is missing, unknown or malformed, empty for the value as a whole; null when the value is what the
 * schema says. Nothing is converted, and an unknown field is a fault: it could change the meaning of the known ones.
 */
export function findFault(schema: Joi.Schema, value: unknown): string | null {
  const { error } = schema.validate(value, { convert: false });
  return error ? (error.details[0]?.path.join('.') ?? '') : null;
}

/** Creates a parser of untrusted values. @throws GatewayError invalid_parameter naming the field, never its value. */
export const reader =
  <T>(schema: Joi.ObjectSchema<T> | Joi.AlternativesSchema<T>) =>
  (value: unknown): T => {
    const fault = findFault(schema, value);
    if (fault === null) return value as T;
    const path = fault || 'request';
    throw new GatewayError('invalid_parameter', `${path} is missing, unknown or malformed`, {
      fields: [{ field: path, message: 'malformed' }],
    });
  };

/** Creates a parser of messages in JSON; `what` names them in errors. @throws GatewayError invalid_parameter naming the field. */
export const jsonReader =
  <T>(schema: Joi.ObjectSchema<T>, what: string) =>
  (body: Buffer): T => {
    const malformed = (fault: string) => new GatewayError('invalid_parameter', `malformed ${what}: ${fault}`);
    let value: unknown;
    try {
      value = JSON.parse(body.toString('utf8'));
    } catch {
      throw malformed('not JSON');
    }
    const fault = findFault(schema, value);
    if (fault !== null) throw malformed(fault || 'body');
    return value as T;
  };
