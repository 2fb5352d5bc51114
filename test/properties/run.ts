import { Agent, request as httpRequest } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { AnswerCheck, cachingOf, type Document, type NamedOperation, operationsOf } from '../openapi';
import { requestsOf, type HttpRequest } from './requests';
import type { Known } from './values';

export interface Target {
  /** Such as http://127.0.0.1:8080/api/v1. */
  baseUrl: string;
  token: () => Promise<string>;
  document: Document;
  known: Known;
  /** Added to every request. */
  headers?: () => Record<string, string>;
  /** False for requests that must not be sent because they are too expensive. */
  sends?: (operation: NamedOperation, request: HttpRequest) => boolean;
  /** Last changes to a request: values that are not known when requests are generated, such as the code of a second factor. */
  finish?: (operation: NamedOperation, request: HttpRequest) => HttpRequest | Promise<HttpRequest>;
  /** For so long a request is sent again that is answered 503 with Retry-After: others keep the server busy. 0 unless given. */
  retryForMs?: number;
}

/** How often each status was answered, by operation. */
export type Statuses = Record<string, Record<string, number>>;

/** Reproduces a run: PROPERTY_SEED=<seed of its output>. */
const seed = Number(process.env.PROPERTY_SEED ?? Math.floor(Math.random() * 2 ** 31));
/** Limit for the search of the smallest failing request. */
const shrinkMs = 20_000;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

interface HttpAnswer {
  status: number;
  headers: Headers;
  body: unknown;
}

/**
 * Sends `runs` requests made from the operation's own description. Whatever they are, the answer must be one that the
 * description knows.
 * @returns how often each status was answered
 * @throws Error with the smallest request found that is answered otherwise, and the seed.
 */
async function checkOperation(target: Target, operation: NamedOperation, runs: number): Promise<Record<string, number>> {
  const check = new AnswerCheck(target.document);
  const statuses: Record<string, number> = {};
  const property = fc.asyncProperty(requestsOf(operation, target.known), async (request) => {
    if (target.sends?.(operation, request) === false) return;
    const answer = await sendPatiently(target, (await target.finish?.(operation, request)) ?? request);
    statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
    const wrong = complaintOf(check, operation, answer);
    if (wrong) throw new Error(wrong);
  });
  await fc.assert(property, {
    seed,
    numRuns: runs,
    interruptAfterTimeLimit: shrinkMs,
    markInterruptAsFailure: false,
    includeErrorInReport: true,
  });
  return statuses;
}

/**
 * All operations of a document, one after the other, each against the target made for it; says on stderr what was answered
 * how often.
 * @returns what was answered, and what was found, in words
 */
export async function checkOperations(
  document: Document,
  targetFor: (operation: NamedOperation) => Promise<Target>,
  runsOf: (operation: NamedOperation) => number,
): Promise<{ statuses: Statuses; failures: string[] }> {
  const failures: string[] = [];
  const statuses: Statuses = {};
  process.stderr.write(`PROPERTY_SEED=${seed}\n`);
  for (const operation of operationsOf(document)) {
    try {
      const seen = await checkOperation(await targetFor(operation), operation, runsOf(operation));
      statuses[operation.name] = seen;
      process.stderr.write(`${operation.name} ${JSON.stringify(seen)}\n`);
    } catch (error) {
      failures.push((error as Error).message);
    }
  }
  return { statuses, failures };
}

/** Longer bodies are nested too deeply to be serialised again. */
const longestBody = 20_000;

/** The fields of a request whose body is a JSON object; null for every other. */
export function fieldsSentBy({ body }: HttpRequest): Record<string, unknown> | null {
  if (body !== null && body.length > longestBody) return null;
  try {
    const fields = JSON.parse(body ?? '') as unknown;
    return typeof fields === 'object' && fields !== null && !Array.isArray(fields) ? (fields as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function complaintOf(check: AnswerCheck, operation: NamedOperation, answer: HttpAnswer): string | null {
  const { status, headers, body } = answer;
  if (status >= 500) return `${operation.name} answered ${status}: ${JSON.stringify(body)}`;
  const wrong = check.complaint(operation, answer);
  if (wrong) return wrong;
  for (const [name, { required }] of Object.entries(operation.operation.responses[status]?.headers ?? {}))
    if (required && !headers.has(name)) return `${operation.name} ${status} lacks the header ${name}`;
  if (headers.get('cache-control') !== cachingOf(headers)) return `${operation.name} ${status} may be stored`;
  if (status < 400) return null;
  const problem = body as { status: number; request_id: string };
  if (problem.status !== status) return `${operation.name}: the problem says ${problem.status}, the answer ${status}`;
  // a stored answer has the bytes of the first one
  const isReplay = headers.get('idempotency-replayed') === 'true';
  if (!isReplay && problem.request_id !== headers.get('x-request-id')) return `${operation.name} ${status}: another request_id`;
  return /select |insert |\bat .*\.[tj]s|postgres|ECONN/i.test(JSON.stringify({ ...problem, instance: '' }))
    ? `${operation.name} ${status} exposes internals: ${JSON.stringify(body)}`
    : null;
}

async function sendPatiently(target: Target, request: HttpRequest): Promise<HttpAnswer> {
  for (const until = Date.now() + (target.retryForMs ?? 0); ;) {
    const answer = await send(target, request);
    const seconds = answer.headers.get('retry-after');
    if (answer.status !== 503 || seconds === null || Date.now() >= until) return answer;
    await delay(Number(seconds) * 1_000);
  }
}

/** Not fetch, which normalises paths and headers. */
async function send({ baseUrl, token, headers: added }: Target, request: HttpRequest): Promise<HttpAnswer> {
  const { method, path, body, withToken } = request;
  const url = new URL(baseUrl);
  const headers = {
    ...request.headers,
    ...added?.(),
    ...(withToken && { Authorization: `Bearer ${await token()}` }),
    ...(body !== null && { 'Content-Length': String(Buffer.byteLength(body)) }),
  };
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      { agent, host: url.hostname, port: url.port, method, path: `${url.pathname}${path}`, headers, timeout: 30_000 },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', reject).on('end', () => {
          const seen = new Headers();
          for (const [name, value] of Object.entries(incoming.headers)) seen.set(name, String(value));
          const text = decode(Buffer.concat(chunks), seen.get('content-encoding'));
          const isJson = /json/.test(seen.get('content-type') ?? '');
          resolve({ status: incoming.statusCode ?? 0, headers: seen, body: isJson ? JSON.parse(text) : text });
        });
      },
    );
    outgoing.on('timeout', () => outgoing.destroy(new Error(`${method} ${path}: no answer`))).on('error', reject);
    outgoing.end(body ?? undefined);
  });
}

/** Headers are generated, so one of them may ask for compressed answers. */
function decode(bytes: Buffer, encoding: string | null): string {
  if (encoding !== null && encoding !== 'gzip') throw new Error(`an answer is encoded as ${encoding}`);
  return (encoding === 'gzip' ? gunzipSync(bytes) : bytes).toString('utf8');
}

/** Closes the connection, so that the run can end. */
export const endRun = (): void => agent.destroy();
