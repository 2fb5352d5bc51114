import { setTimeout as delay } from 'node:timers/promises';
import { isHex } from 'viem';
import type { Answer } from '../post';
import { LimitedRequests, NoAnswer } from '../no-answer';
import { NodeRefusal } from './refusal';

/** Untyped JSON-RPC: blocks of the seven chains have different fields, which a strict parser would refuse. */
export type RpcCall = <T>(method: string, params: unknown[]) => Promise<T>;

type Post = (body: string) => Promise<Answer>;

interface Response {
  id?: unknown;
  result?: unknown;
  error?: { code?: unknown; message?: unknown; data?: unknown } | null;
}

interface Waiting {
  id: number;
  method: string;
  params: unknown[];
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

/**
 * With an HTTP status that is of no answer, a JSON-RPC error with the id of this very call: servers and proxies send such of a call that its node
 * has refused, and of one that has never reached a node.
 */
export class DoubtfulRefusal extends Error {
  constructor(
    message: string,
    readonly refusal: NodeRefusal,
  ) {
    super(message);
  }
}

let lastId = 1_000_000;
/** No two calls have the same: what is in front of a node has ids of its own, often 0 or 1, for what it says of a whole request. */
const nextId = (): number => (lastId += 1);

/** A failed request is made once more. */
const retries = 1;
const retryDelayMs = 150;

/**
 * Calls that are made at the same time share HTTP requests, of `batchSize` at most.
 * Rejects with NodeRefusal for a JSON-RPC error, DoubtfulRefusal for one with the status of a failure, and with an Error, which names neither url
 * nor parameters, without a usable response.
 */
export function createBatchedCall(post: Post, batchSize: number): RpcCall {
  let waiting: Waiting[] = [];
  const flush = () => {
    const batch = waiting;
    waiting = [];
    void send(post, batch);
  };
  return <T>(method: string, params: unknown[]) =>
    new Promise<T>((resolve, reject) => {
      waiting.push({ id: nextId(), method, params, resolve: resolve as Waiting['resolve'], reject });
      if (waiting.length === batchSize) flush();
      else if (waiting.length === 1) setImmediate(() => waiting.length > 0 && flush());
    });
}

/** A call in an HTTP request of its own. */
export const createSingleCall =
  (post: Post): RpcCall =>
  async <T>(method: string, params: unknown[]) => {
    const id = nextId();
    try {
      return (await withRetry(async () => readResult(await exchange(post, toRequest({ id, method, params }))))) as T;
    } catch (error) {
      throw toErrorOf(id, error);
    }
  };

async function send(post: Post, batch: Waiting[]): Promise<void> {
  try {
    const body = batch.map(toRequest);
    const responses = await withRetry(() => exchange(post, body));
    // an endpoint that refuses the batch as a whole answers with one error
    if (!Array.isArray(responses)) throw toError(responses as Response | null);
    const byId = new Map(responses.map((response: Response) => [response.id, response]));
    for (const { id, resolve, reject } of batch) settle(byId.get(id), resolve, reject);
  } catch (error) {
    for (const { id, reject } of batch) reject(toErrorOf(id, error));
  }
}

function settle(response: Response | undefined, resolve: Waiting['resolve'], reject: Waiting['reject']): void {
  try {
    resolve(readResult(response ?? null));
  } catch (error) {
    reject(error);
  }
}

const toRequest = ({ id, method, params }: Pick<Waiting, 'id' | 'method' | 'params'>) => ({ jsonrpc: '2.0', id, method, params });

/** Of an endpoint that limits requests: what it sends with that is about none of them. */
const tooManyRequests = 429;

/** No usable answer to a whole request. */
class BadStatus extends NoAnswer {
  constructor(
    status: number,
    private readonly said: unknown,
  ) {
    super(`no result (HTTP ${status})`);
  }

  about(id: number): Error {
    const responses = [this.said].flat() as (Response | null | undefined)[];
    const refusal = toRefusal(responses.find((response) => response?.id === id));
    return refusal ? new DoubtfulRefusal(this.message, refusal) : this;
  }
}

const toErrorOf = (id: number, error: unknown): unknown => (error instanceof BadStatus ? error.about(id) : error);

/**
 * @throws LimitedRequests; BadStatus without JSON, and with the status of one that has failed before it could answer; NodeRefusal for a JSON-RPC
 * error that answers all of a request with another status than 200.
 */
async function exchange(post: Post, body: object): Promise<unknown> {
  const { status, text } = await post(JSON.stringify(body));
  const said = parse(text);
  if (status === 200 && said !== undefined) return said;
  if (status === tooManyRequests) throw new LimitedRequests(`no result (HTTP ${status})`);
  const refusal = status >= 500 || Array.isArray(said) ? null : toRefusal(said as Response | null | undefined);
  throw refusal ?? new BadStatus(status, said);
}

async function withRetry<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (error instanceof NodeRefusal || tries === retries) throw error;
    }
    await delay(retryDelayMs);
  }
}

function readResult(said: unknown): unknown {
  const response = said as Response | null;
  if (!response || response.error || response.result === undefined) throw toError(response);
  return response.result;
}

const toError = (response: Response | null): Error => toRefusal(response) ?? new Error('no result');

function toRefusal(response: Response | null | undefined): NodeRefusal | null {
  const error = response?.error;
  if (typeof error?.code !== 'number') return null;
  return new NodeRefusal(error.code, toText(error.message), isHex(error.data) ? error.data : null);
}

/** Of a node's message, as much as is kept. */
const toText = (message: unknown): string => (typeof message === 'string' ? message.slice(0, 500) : '');

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
