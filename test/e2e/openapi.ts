import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { type Answer, api, send, stack } from '../stack/client';

interface Response {
  content?: Record<string, { schema: object }>;
}
interface Document {
  paths: Record<string, Record<string, { responses: Record<string, Response> }>>;
  components: object;
}
interface Request {
  body?: unknown;
  headers?: Record<string, string>;
  /** null: without a token. */
  as?: 'demo' | 'other' | null;
}

let loaded: Promise<Document> | undefined;
const validators = new Map<string, ValidateFunction>();

function document(): Promise<Document> {
  loaded ??= send<Document>('GET', `${stack().base_url}/openapi.json`).then(({ body }) => body);
  return loaded;
}

/** One request; its answer has to be what the gateway's own OpenAPI document says of that status. */
export async function documented(
  method: string,
  path: string,
  { as = 'demo', ...options }: Request = {},
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- assertions look into parsed JSON
): Promise<Answer<any>> {
  const answer = await (as === null
    ? send(method, `${stack().base_url}${path}`, options)
    : api(as).request(method, path, options));
  const { paths, components } = await document();
  const [bare = ''] = path.split('?');
  const template = bare in paths ? bare : Object.keys(paths).find((candidate) => matches(candidate, bare));
  const operation = template === undefined ? undefined : paths[template]?.[method.toLowerCase()];
  if (operation) {
    const type = answer.headers.get('content-type')?.split(';')[0] ?? '';
    const schema = operation.responses[answer.status]?.content?.[type]?.schema;
    if (!schema) throw new Error(`${method} ${template} answered ${answer.status} ${type}, which the document does not know`);
    const validate = validatorOf(`${method} ${template} ${answer.status}`, { ...schema, components });
    if (!validate(answer.body))
      throw new Error(`${method} ${path} ${answer.status}: ${JSON.stringify(validate.errors)} in ${JSON.stringify(answer.body)}`);
  }
  expect(answer.headers.get('x-request-id')).toMatch(/^[\w.:-]{1,64}$/);
  expect([answer.headers.get('cache-control'), answer.headers.get('x-content-type-options')]).toEqual(['no-store', 'nosniff']);
  return answer;
}

const matches = (template: string, path: string): boolean => new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`).test(path);

function validatorOf(name: string, schema: object): ValidateFunction {
  let validate = validators.get(name);
  if (!validate) {
    const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true });
    addFormats(ajv);
    ajv.addVocabulary(['components']);
    validate = ajv.compile(schema);
    validators.set(name, validate);
  }
  return validate;
}

/** Asserts an RFC 9457 problem with this status and code, naming this field. */
export function expectProblem({ status, headers, body }: Answer<unknown>, expected: number, code: string, field?: string): void {
  const problem = body as { code: string; request_id: string; errors?: { field: string }[] };
  expect({ status, code: problem.code, problem }).toEqual({ status: expected, code, problem });
  expect(headers.get('content-type')).toMatch(/^application\/problem\+json/);
  expect(problem.request_id).toBe(headers.get('x-request-id'));
  if (field !== undefined) expect(problem.errors?.map((error) => error.field)).toContain(field);
  expect(JSON.stringify(problem)).not.toMatch(/select |insert |\.[tj]s:\d|postgres|ECONN/i);
}
