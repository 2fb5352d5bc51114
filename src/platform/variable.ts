import Joi from 'joi';

export interface Variable<T> {
  schema: Joi.Schema<T>;
  /** One or two sentences for .env.example. */
  doc: string;
  group: string;
  secret: boolean;
  /** May also be given as NAME_FILE, the path of a file that holds the value. */
  inFile: boolean;
}

export const port = () => Joi.number().port();
export const perMinute = () => Joi.number().integer().min(6).max(10_000_000);
export const secretText = () => Joi.string().min(1);

export function variable<T>(group: string, schema: Joi.Schema<T>, doc: string, secret = false, inFile = secret): Variable<T> {
  return { schema, doc, group, secret, inFile };
}
