import { createConfig, lintFromString } from '@redocly/openapi-core';
import { visibleText } from '../../../src/http/schemas';
import { eventKinds } from '../../../src/webhooks/events';
import { type Document, operationsOf, readDocument } from '../../openapi';
import { createFixture, type Fixture } from './fixture';

let fixture: Fixture;
/** As it is served, and with its references replaced. */
let served: Document;
let document: Document;
beforeAll(async () => {
  fixture = await createFixture();
  served = (await fixture.call('GET', '/openapi.json', { tenant: null })).body as unknown as Document;
  document = readDocument(served);
});
afterAll(() => fixture.close());

const operations = () => operationsOf(document);

test('is OpenAPI 3.1 and has every route', () => {
  expect(document.openapi).toMatch(/^3\.1\./);
  const routes = [...fixture.resources.routes, ...fixture.resources.operational].filter(({ id }) => id !== null);
  const expected = routes.map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`);
  expect(
    operations()
      .map(({ name }) => name)
      .sort(),
  ).toEqual([...expected, 'get /openapi.json'].sort());
});

test('every reference resolves and every operationId is unique', () => {
  // reading it has failed otherwise
  expect(JSON.stringify(document)).not.toContain('$ref');
  const ids = operations().map(({ operation }) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
  expect(JSON.stringify(document)).not.toMatch(/x-component|x-max/);
});

test('has no warnings by the rules that Redocly recommends', async () => {
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({ source: JSON.stringify(served), config });
  expect(problems.map(({ ruleId, severity, message, location }) => [ruleId, severity, message, location[0]?.pointer])).toEqual(
    [],
  );
});

test('has every event of webhooks, with the type of its data', () => {
  const { webhooks = {} } = document;
  expect(Object.keys(webhooks).sort()).toEqual([...eventKinds, 'webhook.test'].sort());
  for (const [kind, { post }] of Object.entries(webhooks))
    expect(post.requestBody.content['application/json']?.schema).toMatchObject({
      required: ['type', 'timestamp', 'data'],
      properties: { type: { const: kind }, data: { type: 'object' } },
    });
});

test('what is used more than once has a name', () => {
  const { schemas, responses, headers } = served.components as unknown as Record<string, Record<string, object>>;
  expect(Object.keys(schemas ?? {})).toEqual(
    expect.arrayContaining(['FailureCode', 'TransactionStatus', 'TimelineEntry', 'CreateWalletRequest', 'DepositConfirmedEvent']),
  );
  expect(schemas?.['FailureCode']).toMatchObject({
    description: expect.stringContaining('`rate_limited` (429): Too many requests'),
  });
  // what is not always sent is described in place
  const described = Object.values(responses ?? {}).concat(
    operationsOf(served).flatMap(({ operation }) => Object.values(operation.responses)),
  );
  const sent = described.flatMap((answer) =>
    Object.values((answer as { headers?: Record<string, { required?: boolean }> }).headers ?? {}),
  );
  expect(sent.length).toBeGreaterThan(100);
  expect(sent.filter(({ required }) => required)).toEqual([]);
  const alwaysSent = ['Allow', 'Location', 'RateLimit', 'RateLimitPolicy', 'RetryAfter', 'WWWAuthenticate', 'XRequestId'];
  expect(Object.keys(headers ?? {}).sort()).toEqual(alwaysSent);
  expect(Object.keys(responses ?? {})).toEqual(expect.arrayContaining(['BadRequest', 'ServiceUnavailable']));
  for (const { name, operation } of operationsOf(served)) {
    const failures = Object.entries(operation.responses).filter(([status]) => Number(status) >= 400);
    for (const [status, answer] of failures) expect({ name, status, answer }).toHaveProperty('answer.$ref');
  }
  for (const { name, operation } of operationsOf(served)) {
    const { content = {} } = operation.requestBody ?? {};
    for (const { schema } of Object.values(content)) expect({ name, schema }).toHaveProperty('schema.$ref');
  }
  // the same body has one name
  expect(served.paths['/x402/verify']?.['post']?.requestBody).toEqual(served.paths['/x402/settle']?.['post']?.requestBody);
  expect(inlineEnums(served)).toEqual([]);
  const { length } = JSON.stringify(served);
  expect(length).toBeLessThan(175_000);
  // lists of references most of all
  expect(repeatedLength(served) / length).toBeLessThan(0.15);
});

test('a transaction has its failure code and its timeline by the names of their types', () => {
  const { TransactionDetail, EventTransaction } = served.components.schemas as Record<string, { properties: object }>;
  const failure = { properties: { code: { $ref: '#/components/schemas/FailureCode' } } };
  expect(TransactionDetail?.properties).toMatchObject({
    failure,
    timeline: { items: { $ref: '#/components/schemas/TimelineEntry' } },
  });
  expect(EventTransaction?.properties).toMatchObject({ failure });
});

/** Characters that are there again: of equal objects all but the first; what one has within it is not counted once more. */
function repeatedLength(document: unknown): number {
  const seen = new Set<string>();
  const lengthIn = (node: unknown): number => {
    if (typeof node !== 'object' || node === null) return 0;
    const text = JSON.stringify(node);
    // a reference, or a few words
    if (text.length > 150) {
      if (seen.has(text)) return text.length;
      seen.add(text);
    }
    return Object.values(node).reduce<number>((sum, part) => sum + lengthIn(part), 0);
  };
  return lengthIn(document);
}

/** Where one of several texts is described in place. */
function inlineEnums(node: unknown, path: string[] = []): string[] {
  if (typeof node !== 'object' || node === null) return [];
  const isNamed = path.length === 3 && path[0] === 'components';
  const { enum: values } = node as { enum?: unknown };
  const isText = Array.isArray(values) && values.filter((value) => typeof value === 'string').length > 1;
  const own = isText && !isNamed ? [path.join('/')] : [];
  return [...own, ...Object.entries(node).flatMap(([key, value]) => inlineEnums(value, [...path, key]))];
}

test('private operations document 401 and 429, creating ones 409 and 422, all of them 400, 405 and 500', () => {
  for (const { name, operation } of operations()) {
    const statuses = Object.keys(operation.responses);
    expect({ name, statuses }).toEqual({ name, statuses: expect.arrayContaining(['400', '405', '500']) });
    if (operation.security === undefined) expect(statuses).toEqual(expect.arrayContaining(['401', '429', '503']));
    for (const status of statuses.filter((code) => Number(code) >= 400))
      expect(Object.keys(operation.responses[status]?.content ?? {})).toEqual(['application/problem+json']);
  }
  const of = (path: string, method: string) => Object.keys(document.paths[path]?.[method]?.responses ?? {});
  expect(of('/transfer', 'post')).toEqual(
    expect.arrayContaining(['202', '400', '401', '404', '409', '413', '415', '422', '500', '503']),
  );
  expect(of('/auth/token', 'post')).toEqual(expect.arrayContaining(['200', '401', '429', '503']));
});

test('every pattern is valid in JSON Schema', () => {
  const patterns = [...JSON.stringify(document).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)].map(
    ([, text]) => JSON.parse(text as string) as string,
  );
  expect(patterns.length).toBeGreaterThan(5);
  for (const pattern of patterns) {
    // from end to end, but for "something visible"
    expect(pattern).toMatch(/\$$|^\\S$/);
    expect(() => new RegExp(pattern, 'u')).not.toThrow();
    // what other tools, with RE2 or Python's re, do not read or read otherwise: looking around, back references, classes of Unicode, flags
    expect(pattern).not.toMatch(/\(\?(?!:)|\\[1-9kpPuc]/);
  }
});

describe('what the document allows the server does not refuse for its form', () => {
  const schemaOf = (path: string, field: string) =>
    document.paths[path]?.['post']?.requestBody?.content['application/json']?.schema.properties?.[field] as { pattern: string };
  const allows = ({ pattern }: { pattern: string }, value: string) => new RegExp(pattern, 'u').test(value);

  test('a wallet’s name', async () => {
    const every = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).filter((it) => !/\p{Cs}/u.test(it));
    const name = new RegExp(schemaOf('/wallets', 'wallet_name').pattern, 'u');
    const read = visibleText(100);
    const texts = [...every, '  ', '\t\n', ' a\n', 'a\u0000', '\ud83d\ude00'];
    expect(texts.filter((one) => name.test(one) !== (read.validate(one).error === undefined))).toEqual([]);
    for (const blank of [' ', '\u3000'])
      expect((await fixture.call('POST', '/wallets', { body: { wallet_name: blank } })).status).toBe(400);
  });

  test('a transfer’s amount', () => {
    const amount = schemaOf('/transfer', 'amount');
    for (const one of ['1', '10', '01', '1.0', '0.5', '00.50', '0.05', '100.001', '0.0100'])
      expect([one, allows(amount, one)]).toEqual([one, true]);
    for (const one of ['0', '00', '0.0', '0.', '.5', '1.', '', '-1', '1e3', ' 1', '0.00'])
      expect([one, allows(amount, one)]).toEqual([one, false]);
  });

  test('an id in a path', () => {
    const inPath = operations().flatMap(({ operation }) => operation.parameters.filter((parameter) => parameter.in === 'path'));
    expect(inPath.length).toBeGreaterThan(10);
    for (const { name, schema } of inPath)
      expect({ name, schema }).toEqual({ name, schema: { type: 'string', minLength: 1, pattern: '\\S' } });
  });
});

test('schemas have their limits in JSON Schema', () => {
  expect(document.paths['/wallets']?.['post']).toMatchObject({
    requestBody: {
      content: {
        'application/json': {
          schema: {
            required: ['wallet_name'],
            additionalProperties: false,
            properties: { wallet_name: { type: 'string', maxLength: 100 } },
          },
        },
      },
    },
  });
  expect(document.components.schemas['Asset']?.properties).toMatchObject({
    contract_address: { type: ['string', 'null'] },
    asset_type: { enum: expect.arrayContaining(['SPL']) },
  });
});

test('numbers have the maximum, and texts the least length, that the server demands', async () => {
  const lists = operations().flatMap(({ name, operation }) => {
    const { parameters = [] } = operation as { parameters?: { name: string; schema: object }[] };
    const page = parameters.find((parameter) => parameter.name === 'page');
    return page ? [{ name, schema: page.schema }] : [];
  });
  expect(lists.map(({ name }) => name)).toContain('get /wallets');
  for (const { schema } of lists) expect(schema).toMatchObject({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
  const { content } = document.paths['/wallets']?.['post']?.requestBody ?? {};
  expect(content?.['application/json']?.schema.properties).toMatchObject({ wallet_name: { minLength: 1 } });

  const { MAX_SAFE_INTEGER: largest } = Number;
  for (const [page, status] of [
    [largest, 200],
    [largest + 1, 400],
    [0, 400],
  ] as const)
    expect((await fixture.call('GET', `/wallets?page=${page}`)).status).toBe(status);
  expect((await fixture.call('POST', '/wallets', { body: { wallet_name: '' } })).status).toBe(400);
});
