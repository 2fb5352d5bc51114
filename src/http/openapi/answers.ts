import { STATUS_CODES } from 'node:http';
import { type FailureCode, failureCodes } from '../../platform/codes';
import { problemMediaType } from '../errors';
import type { MiddlewareDocs, Route } from '../route';
import type { Components, Json } from './components';

/** The answers of a route by status: the one of success, and what its middleware and handler refuse. */
export function toResponses({ answer, fails }: Route, docs: MiddlewareDocs[], components: Components): Json {
  const replayable = docs.some(({ headers }) => headers?.some(({ name }) => name === 'Idempotency-Key'));
  const headers = {
    ...(docs.some(({ limited }) => limited) && rateLimitHeaders(always)),
    ...requestIdHeader,
    ...(answer.location && { Location: always('Path of the created resource') }),
    ...(replayable && { 'Idempotency-Replayed': sometimes('true when this is the stored response of the first request') }),
  };
  const success = {
    description: answer.description,
    headers: nameHeaders(headers, components),
    content: { 'application/json': { schema: components.toSchema(answer.schema) } },
  };
  // every route refuses unknown query parameters and methods, and can fail
  const codes = new Set<FailureCode>([
    ...docs.flatMap((part) => part.fails ?? []),
    ...fails,
    'invalid_parameter',
    'method_not_allowed',
    'internal_error',
  ]);
  const failures: Record<string, Json> = {};
  for (const status of [...new Set([...codes].map((code) => failureCodes[code].status))].sort()) {
    const ofStatus = [...codes].filter((code) => failureCodes[code].status === status);
    failures[status] = {
      ...toFailure(status, components),
      description: ofStatus.map((code) => `\`${code}\`: ${failureCodes[code].title}`).join('; '),
    };
  }
  return { [answer.status]: success, ...failures };
}

/** What all failures of a status have in common; a route adds its codes. */
function toFailure(status: number, components: Components): Json {
  const title = STATUS_CODES[status] ?? String(status);
  const headers = {
    ...([401, 405].includes(status) ? {} : rateLimitHeaders(status === 429 ? always : sometimes)),
    ...requestIdHeader,
    ...(status === 401 && { 'WWW-Authenticate': always('Bearer') }),
    ...(status === 405 && { Allow: always('Methods of this path') }),
    ...(status === 400 && {
      'Retry-After': sometimes('With wallet_not_active of a wallet whose key is being generated: seconds to wait'),
    }),
    ...([429, 503].includes(status) && { 'Retry-After': always('Seconds to wait') }),
  };
  return components.named('responses', title.replace(/\W/g, ''), {
    description: title,
    headers: nameHeaders(headers, components),
    content: { [problemMediaType]: { schema: { $ref: '#/components/schemas/Problem' } } },
  });
}

/** Those that are always sent have a name; where they are not always sent, they are described in place. */
const nameHeaders = (headers: Record<string, Json>, components: Components): Json =>
  Object.fromEntries(
    Object.entries(headers).map(([name, header]) => [
      name,
      header['required'] ? components.named('headers', name.replace(/\W/g, ''), header) : header,
    ]),
  );

const sometimes = (description: string): Json => ({ description, schema: { type: 'string' } });
const always = (description: string): Json => ({ ...sometimes(description), required: true });

const requestIdHeader = { 'X-Request-Id': always('Id of the request: as sent, or generated') };

/** draft-ietf-httpapi-ratelimit-headers */
const rateLimitHeaders = (header: typeof always): Record<string, Json> => ({
  'RateLimit-Policy': header('Quotas that apply: requests `q` per `w` seconds, such as "client";q=1000;w=10'),
  RateLimit: header('Remaining quotas: `r` requests, the full quota again in `t` seconds, such as "client";r=998;t=7'),
});
