import { AnswerCheck, cachingOf, type Document, operationAt, readDocument } from '../openapi';
import { type Answer, api, send, stack } from '../stack/client';

interface Request {
  body?: unknown;
  headers?: Record<string, string>;
  /** null: without a token. */
  as?: 'demo' | 'other' | null;
}

let loaded: Promise<{ document: Document; check: AnswerCheck }> | undefined;

export function openApi(): Promise<{ document: Document; check: AnswerCheck }> {
  loaded ??= send<unknown>('GET', `${stack().base_url}/openapi.json`).then(({ body }) => {
    const document = readDocument(body);
    return { document, check: new AnswerCheck(document) };
  });
  return loaded;
}

/** One request; its answer must match the gateway's OpenAPI document for that status. */
export async function documented(
  method: string,
  path: string,
  { as = 'demo', ...options }: Request = {},
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- assertions look into parsed JSON
): Promise<Answer<any>> {
  const answer = await (as === null
    ? send(method, `${stack().base_url}${path}`, options)
    : api(as).request(method, path, options));
  const { document, check } = await openApi();
  const operation = operationAt(document, method, path.split('?')[0] ?? '');
  const complaint = operation && check.complaint(operation, answer);
  if (complaint) throw new Error(`${method} ${path}: ${complaint}`);
  expect(answer.headers.get('x-request-id')).toMatch(/^[\w.:-]{1,64}$/);
  expect([answer.headers.get('cache-control'), answer.headers.get('x-content-type-options')]).toEqual([
    cachingOf(answer.headers),
    'nosniff',
  ]);
  return answer;
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
