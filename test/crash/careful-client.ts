import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ApiClient, Answer, RequestOptions } from '../stack/api-client';

/** For one request; a process that is started again is back much earlier. */
const retryForMs = 60_000;
const betweenServersMs = 100;

/** What a connection to a server says that is not there, or that is just ending. */
const connectionErrors = ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'];

const uuid = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

const codeOf = (error: unknown): string =>
  (error as { cause?: { code?: string } }).cause?.code ?? (error instanceof Error ? error.message : String(error));

/**
 * A client as docs/integration.md asks for: a request that finds no server, that is answered 503, or 409 since the first one with its key is not
 * over, both with Retry-After, is sent again with the same Idempotency-Key, to the next server. Any other answer than the one that is expected is
 * on record.
 */
export class CarefulClient {
  /** What no retry is for. */
  readonly failures: string[] = [];
  /** What was sent again, by its reason. */
  readonly retried: Record<string, number> = {};
  /** Milliseconds from the first try to the answer, the longest of each kind of request, such as `GET /transactions/…`. */
  readonly longest: Record<string, number> = {};
  private turn = 0;

  constructor(private readonly servers: readonly ApiClient[]) {}

  /** The answer with the status `expected`. @throws Error for any other, which is then one of `failures`. */
  async request<T>(
    method: string,
    path: string,
    expected: number,
    { headers, ...options }: RequestOptions = {},
  ): Promise<Answer<T>> {
    const request = { ...options, headers: { ...(method === 'POST' && { 'idempotency-key': randomUUID() }), ...headers } };
    const began = Date.now();
    while (Date.now() < began + retryForMs) {
      const server = this.servers[(this.turn += 1) % this.servers.length] as ApiClient;
      const answer = await server.request<T>(method, path, request).catch((error: unknown) => codeOf(error));
      if (typeof answer === 'string') {
        if (!connectionErrors.includes(answer)) return this.fail(`${method} ${path}: ${answer}`);
        this.retry(answer);
        await delay(betweenServersMs);
        continue;
      }
      if (answer.status === expected) {
        this.record(`${method} ${path.replace(/\?.*$/, '').replace(uuid, '…')}`, Date.now() - began);
        return answer;
      }
      const seconds = answer.headers.get('retry-after');
      const shown = `${answer.status} ${(answer.body as { code?: string } | null)?.code ?? ''}`;
      if ((answer.status !== 503 && shown !== '409 idempotency_in_progress') || seconds === null)
        return this.fail(
          // who has answered, and when: ports of processes that are being restarted are free for some seconds
          `${new Date().toISOString()} ${method} ${server.baseUrl}${path}: ${answer.status} ${answer.headers.get('content-type')} ${JSON.stringify(answer.body)}`,
        );
      this.retry(shown);
      await delay(Number(seconds) * 1_000);
    }
    return this.fail(`${method} ${path}: not answered within ${retryForMs} ms`);
  }

  private record(kind: string, ms: number): void {
    this.longest[kind] = Math.max(this.longest[kind] ?? 0, ms);
  }

  private retry(reason: string): void {
    this.retried[reason] = (this.retried[reason] ?? 0) + 1;
  }

  private fail(reason: string): never {
    this.failures.push(reason);
    throw new Error(reason);
  }
}
