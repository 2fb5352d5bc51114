import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';

import type { Schema } from './properties/values';

/** The gateway's OpenAPI document as the tests read it. */

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  schema: Schema;
}

export interface Operation {
  operationId: string;
  /** [] where no token is asked for; absent where one is. */
  security?: object[];
  parameters: Parameter[];
  requestBody?: { content: Record<string, { schema: { properties?: Record<string, object>; required?: string[] } }> };
  responses: Record<string, { headers: Record<string, { required?: boolean }>; content: Record<string, { schema: object }> }>;
}

export interface Document {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, { properties: object }> };
  webhooks?: Record<string, { post: { requestBody: { content: Record<string, { schema: object }> } } }>;
}

/** The document with every reference replaced by what it refers to; what stands beside a reference has priority (OpenAPI 3.1, 4.8.23). */
export function readDocument(document: unknown): Document {
  const replace = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(replace);
    if (typeof node !== 'object' || node === null) return node;
    const { $ref: reference, ...rest } = node as { $ref?: string };
    const fields = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, replace(value)]));
    return reference === undefined ? fields : { ...(replace(partAt(document, reference)) as object), ...fields };
  };
  return replace(document) as Document;
}

function partAt(document: unknown, reference: string): unknown {
  const part = reference
    .split('/')
    .slice(1)
    .reduce<unknown>((node, name) => (node as Record<string, unknown> | undefined)?.[name], document);
  if (part === undefined) throw new Error(`${reference} is not in the document`);
  return part;
}

export interface NamedOperation {
  /** Such as `get /wallets/{id}`. */
  name: string;
  method: string;
  path: string;
  operation: Operation;
}

export const operationsOf = ({ paths }: Document): NamedOperation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, method, path, operation })),
  );

export const bodySchemaOf = ({ requestBody }: Operation) => requestBody?.content['application/json']?.schema;

/** The operation that a path without its query belongs to. */
export function operationAt(document: Document, method: string, path: string): NamedOperation | undefined {
  const candidates = operationsOf(document).filter((each) => each.method === method.toLowerCase());
  return candidates.find((each) => each.path === path) ?? candidates.find((each) => matches(each.path, path));
}

const matches = (template: string, path: string): boolean => new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`).test(path);

interface SeenAnswer {
  status: number;
  headers: Headers;
  body: unknown;
}

/** What an answer has to say of caches: what never changes is asked for again, anything else is not kept. */
export const cachingOf = (headers: Headers): string => (headers.has('etag') ? 'no-cache' : 'no-store');

/** Checks answers against the document. */
export class AnswerCheck {
  private readonly validators = new Map<string, ValidateFunction>();
  private readonly ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true });

  constructor(private readonly document: Document) {
    addFormats(this.ajv);
  }

  /** Describes what is wrong with the answer; null when it is right. */
  complaint({ name, operation }: NamedOperation, { status, headers, body }: SeenAnswer): string | null {
    const type = headers.get('content-type')?.split(';')[0] ?? '';
    const response = operation.responses[status];
    const schema = response?.content[type]?.schema;
    if (!schema) return `${name} answered ${status} ${type}, which the document does not know`;
    const validate = this.validatorOf(`${name} ${status}`, schema);
    if (!validate(body)) return `${name} ${status}: ${JSON.stringify(validate.errors)} in ${JSON.stringify(body)}`;
    return null;
  }

  /** The same for the body of a webhook. */
  eventComplaint(kind: string, body: unknown): string | null {
    const schema = this.document.webhooks?.[kind]?.post.requestBody.content['application/json']?.schema;
    if (!schema) return `${kind} is not in the document`;
    const validate = this.validatorOf(`event ${kind}`, schema);
    return validate(body) ? null : `${kind}: ${JSON.stringify(validate.errors)} in ${JSON.stringify(body)}`;
  }

  private validatorOf(name: string, schema: object): ValidateFunction {
    let validate = this.validators.get(name);
    if (!validate) {
      validate = this.ajv.compile(schema);
      this.validators.set(name, validate);
    }
    return validate;
  }
}
