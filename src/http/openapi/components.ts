import type Joi from 'joi';
import parseJoi from 'joi-to-json';

export type Json = Record<string, unknown>;

/** What is named once in the document and referred to elsewhere. */
type Kind = 'schemas' | 'parameters' | 'headers' | 'responses';

/** A name of a component: `page_size`, `webhook-id` and `deposit.confirmed` as PageSize, WebhookId and DepositConfirmed. */
export const toComponentName = (name: string): string =>
  name.replace(/(?:^|[^a-zA-Z0-9]+)([a-zA-Z0-9])/g, (_, first: string) => first.toUpperCase());

interface Described {
  type?: string;
  allow?: unknown[];
  flags?: { only?: boolean };
  keys?: Record<string, Described>;
  items?: Described[];
}

/** Collects the named parts of the document and replaces them by references. */
export class Components {
  /** `components` of the document, by kind and name. */
  readonly parts: Record<Kind, Record<string, Json>> = { schemas: {}, parameters: {}, headers: {}, responses: {} };

  toSchema(schema: Joi.Schema): Json {
    return this.refer(parseJoi(schema, 'open-api-3.1')) as Json;
  }

  /** The same for what clients send: a text without characters is refused unless the schema allows it. */
  toInput(schema: Joi.Schema): Json {
    return this.refer(notEmpty(parseJoi(schema, 'open-api-3.1') as Json, schema.describe())) as Json;
  }

  /** A reference to a part of this name; the part itself where another one has the name already. */
  named(kind: Kind, name: string, part: Json): Json {
    const known = (this.parts[kind][name] ??= part);
    return JSON.stringify(known) === JSON.stringify(part) ? { $ref: `#/components/${kind}/${name}` } : part;
  }

  /** Replaces every schema with x-component by a $ref, and x-max-characters and x-pattern (src/http/schemas.ts) by maxLength and pattern. */
  private refer(node: unknown): unknown {
    if (Array.isArray(node)) return node.map((item) => this.refer(item));
    if (typeof node !== 'object' || node === null) return node;
    const { 'x-component': name, 'x-max-characters': maxLength, 'x-pattern': pattern, ...rest } = node as Json;
    const fields = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, this.refer(value)]));
    // joi-to-json appends the flags to the pattern; JSON Schema has no flags and implies u
    if (typeof fields['pattern'] === 'string') fields['pattern'] = fields['pattern'].replace(/\$\/u$/, '$');
    if (maxLength !== undefined) fields['maxLength'] = maxLength;
    if (pattern !== undefined) fields['pattern'] = pattern;
    if (typeof name !== 'string') return fields;
    if (Array.isArray(fields['enum'])) return this.referToEnum(name, fields as Json & { enum: unknown[] });
    if (Array.isArray(fields['type']) && fields['type'].includes('null')) return this.referToNullable(name, fields);
    return this.referTo(name, fields);
  }

  /** What is said of it belongs to the place where it is used. */
  private referTo(name: string, { description, ...rest }: Json): Json {
    return { ...this.add(name, rest), ...(description !== undefined && { description }) };
  }

  /** An object that may be null in one place: its name stands for the object alone. */
  private referToNullable(name: string, { description, type: _, ...rest }: Json): Json {
    const reference = this.add(name, { type: 'object', ...rest });
    return { anyOf: [reference, { type: 'null' }], ...(description !== undefined && { description }) };
  }

  /** Where null is allowed, and what is said of it, belong to the place where the values are used. */
  private referToEnum(
    name: string,
    { enum: values, type: _, description, default: byDefault, ...rest }: Json & { enum: unknown[] },
  ) {
    const reference = this.add(name, { ...rest, type: 'string', enum: values.filter((value) => value !== null) });
    return {
      ...(values.includes(null) ? { anyOf: [reference, { type: 'null' }] } : reference),
      ...(description !== undefined && { description }),
      ...(byDefault !== undefined && { default: byDefault }),
    };
  }

  private add(name: string, schema: Json): Json {
    this.parts.schemas[name] = schema;
    return { $ref: `#/components/schemas/${name}` };
  }
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
