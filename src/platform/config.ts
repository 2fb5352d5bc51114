import { readFileSync } from 'node:fs';
import type Joi from 'joi';
import type { Variable } from './variable';
import { variables } from './variables';

/** Thrown at start for a wrong environment variable; entry points print only the message and exit with 78 (EX_CONFIG). */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

export type VariableName = keyof typeof variables;
type ValueOf<V> = V extends Variable<infer T> ? T : never;
export type Config<K extends VariableName> = { readonly [P in K]: ValueOf<(typeof variables)[P]> };

/**
 * Reads and validates the named variables. Values of secrets are taken from NAME_FILE where that is set.
 * @throws ConfigError naming the variable and what is wrong with it; never its value.
 */
export function readConfig<K extends VariableName>(names: readonly K[], env: NodeJS.ProcessEnv = process.env): Config<K> {
  const config: Partial<Record<VariableName, unknown>> = {};
  for (const name of names) {
    const { schema, inFile } = variables[name];
    const result = schema.validate(readVariable(name, { secret: inFile }, env), {
      errors: { wrap: { label: false } },
    });
    if (result.error) throw new ConfigError(`${name} ${problemWith(result.error)}`);
    config[name] = result.value;
  }
  return config as Config<K>;
}

/** Description of the error. Joi's own message for a pattern contains the value, which may be a secret. */
function problemWith(error: Joi.ValidationError): string {
  const [detail] = error.details;
  if (!detail || detail.type === 'string.pattern.base') return 'does not have the required form (see .env.example)';
  return detail.message.replace(/^("value"|value) /, '');
}

/**
 * Raw value of a variable, with `secret` also from the file that NAME_FILE names; undefined when it is missing or empty.
 * @throws ConfigError when the file cannot be read.
 */
export function readVariable(name: string, { secret }: { secret: boolean }, env: NodeJS.ProcessEnv): string | undefined {
  const file = secret ? env[`${name}_FILE`] : undefined;
  if (!file) return env[name] === '' ? undefined : env[name];
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new ConfigError(`${name}_FILE cannot be read (${(error as NodeJS.ErrnoException).code ?? 'error'})`);
  }
}
