import fc from 'fast-check';
import { bodySchemaOf, type NamedOperation, type Parameter } from '../openapi';
import { allowedBy, anyText, type Known, nasty, objectOf, type Schema } from './values';

/** A request as it is sent. */
export interface HttpRequest {
  method: string;
  /** Percent-encoded, with the query. */
  path: string;
  headers: Record<string, string>;
  body: string | null;
  withToken: boolean;
}

/** Valid and broken requests of an operation, from its parameters and its body's schema. */
export function requestsOf({ method, path, operation }: NamedOperation, known: Known): fc.Arbitrary<HttpRequest> {
  const inPlace = (place: Parameter['in']) => operation.parameters.filter((parameter) => parameter.in === place);
  return fc
    .record({
      parts: fc.record(Object.fromEntries(inPlace('path').map(({ name }) => [name, pathPart(name, known)]))),
      query: queryOf(inPlace('query'), known),
      headers: headersOf(inPlace('header')),
      content: contentOf(bodySchemaOf(operation), known),
      withToken: fc.oneof({ weight: 9, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
    })
    .map(({ parts, query, headers, content, withToken }) => ({
      method: method.toUpperCase(),
      path: path.replace(/\{(\w+)\}/g, (_, name: string) => parts[name] ?? '') + query,
      headers: { ...headers, ...content.headers },
      body: content.body,
      withToken,
    }));
}

const encode = (text: string): string => encodeURIComponent(text.replace(/\p{Cs}/gu, '\ufffd'));

function pathPart(name: string, known: Known): fc.Arbitrary<string> {
  const broken = fc.constantFrom(
    '%00',
    '%',
    '%E0%A4%A',
    '%ED%A0%80',
    '%2F',
    '%2e%2e',
    '.',
    ';',
    'x'.repeat(4_000),
    '%C0%80',
    '*',
  );
  return fc.oneof(
    { weight: 4, arbitrary: allowedBy({ type: 'string', format: 'uuid' }, name, known).map((value) => encode(String(value))) },
    { weight: 2, arbitrary: anyText.filter((text) => text !== '').map(encode) },
    { weight: 1, arbitrary: broken },
  );
}

function queryOf(parameters: Parameter[], known: Known): fc.Arbitrary<string> {
  const pair = (name: string, value: unknown) => `${encode(name)}=${encode(String(value))}`;
  const own = parameters.map(({ name }) => anyText.map((value) => pair(name, value)));
  const broken = fc.constantFrom('%', '=', '&&', '__proto__=1', 'page[]=1', 'a[b]=c', '%00=%00', 'x=%ED%A0%80', 'constructor=1');
  const right = fc.record(Object.fromEntries(parameters.map(({ name, schema }) => [name, allowedBy(schema, name, known)])), {
    requiredKeys: [],
  });
  const wrong = fc.array(
    fc.oneof(
      broken,
      ...own,
      anyText.map((name) => pair(name, 1)),
    ),
    { minLength: 1, maxLength: 2 },
  );
  return fc
    .tuple(right, fc.oneof({ weight: 3, arbitrary: fc.constant<string[]>([]) }, { weight: 1, arbitrary: wrong }))
    .map(([fields, bad]) => [...Object.entries(fields).map(([name, value]) => pair(name, value)), ...bad].join('&'))
    .map((query) => (query ? `?${query}` : ''));
}

/** Headers contain no control characters and only Latin-1: Node refuses to send others. */
const headerText = fc.oneof(
  fc.string({ unit: 'grapheme-ascii', maxLength: 40 }),
  fc.constantFrom('x'.repeat(256), 'é', ' ', '', '"'),
);

function headersOf(parameters: Parameter[]): fc.Arbitrary<Record<string, string>> {
  const own = Object.fromEntries(parameters.map(({ name }) => [name, headerText]));
  const encodings = fc.oneof(headerText, fc.constantFrom('gzip', '*', 'gzip;q=0', 'br, gzip', 'identity'));
  const general = { 'X-Request-Id': headerText, traceparent: headerText, Accept: headerText, 'Accept-Encoding': encodings };
  return fc.record({ ...own, ...general }, { requiredKeys: [], noNullPrototype: true });
}

interface Content {
  headers: Record<string, string>;
  body: string | null;
}

const json = (body: string): Content => ({ headers: { 'Content-Type': 'application/json' }, body });
const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;

function contentOf(schema: Schema | undefined, known: Known): fc.Arbitrary<Content> {
  const nothing = fc.constant<Content>({ headers: {}, body: null });
  const broken = fc
    .constantFrom(
      '',
      '{',
      '[]',
      'null',
      '0',
      '"a"',
      '{}{}',
      '{"a":1e999}',
      '{"__proto__":{"a":1}}',
      '\ufeff{}',
      nested(5_000),
      'é',
      '\u0000',
    )
    .map(json);
  if (!schema) return fc.oneof({ weight: 6, arbitrary: nothing }, { weight: 1, arbitrary: broken });
  // a body may be described in several forms
  const forms = schema.properties ? [schema] : (schema.anyOf ?? [schema]);
  const right = fc.oneof(...forms.map((form) => objectOf(form, known)));
  const names = [...new Set(forms.flatMap(({ properties = {} }) => Object.keys(properties)))];
  const changed = fc
    .tuple(right, fc.constantFrom(...names, 'extra'), nasty)
    .map(([body, name, value]) => ({ ...body, [name]: value }));
  const less = fc
    .tuple(right, fc.constantFrom(...names))
    .map(([body, gone]) => Object.fromEntries(Object.entries(body).filter(([name]) => name !== gone)));
  const types = fc.constantFrom(
    'text/plain',
    'application/xml',
    'multipart/form-data; boundary=x',
    'application/json; charset=x',
    '',
  );
  const mislabelled = fc
    .tuple(right, types)
    .map(([body, type]) => ({ headers: { 'Content-Type': type }, body: JSON.stringify(body) }));
  const packed = right.map((body) => ({
    headers: { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
    body: JSON.stringify(body),
  }));
  return fc.oneof(
    { weight: 5, arbitrary: right.map((body) => json(JSON.stringify(body))) },
    { weight: 6, arbitrary: changed.map((body) => json(JSON.stringify(body))) },
    { weight: 2, arbitrary: less.map((body) => json(JSON.stringify(body))) },
    { weight: 2, arbitrary: broken },
    { weight: 1, arbitrary: mislabelled },
    { weight: 1, arbitrary: packed },
    { weight: 1, arbitrary: nothing },
  );
}
