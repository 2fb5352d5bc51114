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

/** Temporal writes both as `<deployment>:<build>` or `<deployment>.<build>`: a deployment's name has neither sign. */
export const deploymentName = () =>
  Joi.string()
    .pattern(/^[A-Za-z0-9][A-Za-z0-9_-]*$/)
    .max(100);
export const buildId = () =>
  Joi.string()
    .pattern(/^[A-Za-z0-9][A-Za-z0-9._-]*$/)
    .max(100);

export function variable<T>(group: string, schema: Joi.Schema<T>, doc: string, secret = false, inFile = secret): Variable<T> {
  return { schema, doc, group, secret, inFile };
}
