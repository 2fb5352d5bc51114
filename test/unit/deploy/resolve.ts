import { parse } from 'yaml';
import { type ComposeFile, composeText, parsing } from './compose-file';

/**
 * The compose file with its variables replaced, as `docker compose` does (`${NAME:-default}`, `$$`); other forms are not used.
 * @throws Error naming a variable in another form
 */
export function resolveCompose(variables: Readonly<Record<string, string>>): ComposeFile {
  const replace = (text: string): string => {
    const innermost = /\$\{(\w+):-([^${}]*)\}/g;
    let current = text.replaceAll('$$', '\0');
    while (innermost.test(current))
      current = current.replace(innermost, (_all, name: string, byDefault: string) => variables[name] || byDefault);
    const other = /\$\S*/.exec(current);
    if (other) throw new Error(`${other[0]} in docker-compose.yml is in a form that is not known here`);
    return current.replaceAll('\0', '$');
  };
  const visit = (value: unknown): unknown => {
    if (typeof value === 'string') return replace(value);
    if (Array.isArray(value)) return value.map(visit);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, visit(item)]));
  };
  return visit(parse(composeText, parsing)) as ComposeFile;
}

/** A file for `docker compose --env-file`. */
export const readVariables = (text: string): Record<string, string> =>
  Object.fromEntries([...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]));
