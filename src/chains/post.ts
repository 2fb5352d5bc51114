import { Agent, type ClientRequest, type IncomingMessage, request as overHttp } from 'node:http';
import { Agent as TlsAgent, request as overTls } from 'node:https';
import type { Readable } from 'node:stream';
import { urlToHttpOptions } from 'node:url';
import { createGunzip } from 'node:zlib';
import { NoAnswer } from './no-answer';

export interface Answer {
  /** HTTP status. */
  status: number;
  text: string;
}

/** As an Answer, before it is decoded. */
export interface RawAnswer {
  status: number;
  /** Uncompressed; in memory of their own where they are at least 4 KB, so that they can be transferred to a thread. */
  bytes: Buffer;
}

interface PostOptions {
  /** Beside those of every request. */
  headers?: Record<string, string>;
  /** Until the whole answer is there, where a request names no other time. */
  timeoutMs: number;
  /** Of an answer, uncompressed. */
  maxBytes: number;
  /** At the same time; further requests wait for them, and their time runs. */
  maxConnections: number;
}

/** `path`: added to the url. */
export type Post<A = Answer> = (body: string, request?: { path?: string; timeoutMs?: number }) => Promise<A>;

/** A kept connection that nobody uses is closed after this time. */
const idleMs = 30_000;
const usualHeaders = {
  'content-type': 'application/json',
  // a block has some MB
  'accept-encoding': 'gzip',
  // firewalls of public endpoints refuse requests without one
  'user-agent': 'custody-gateway',
};

/** The server has closed a kept connection while a request was on its way to it. */
class ConnectionClosed extends NoAnswer {}

/** As `createRawPost`, with answers as text. */
export function createPost(url: string, options: PostOptions): Post {
  const post = createRawPost(url, options);
  return async (body, request) => {
    const { status, bytes } = await post(body, request);
    return { status, text: bytes.toString('utf8') };
  };
}

/**
 * POST requests with JSON to one url, over kept connections; a request whose kept connection was closed meanwhile is sent once more, over a new one.
 * By node:http, since fetch takes a millisecond of processor time more for a short request. A redirection is an answer like any other. Rejects
 * with NoAnswer, which names neither url nor body.
 */
export function createRawPost(
  url: string,
  { headers, timeoutMs: usualMs, maxBytes, maxConnections }: PostOptions,
): Post<RawAnswer> {
  // also reads user and password: one that is no percent-encoded text ends a process at its start, not each of its requests
  const isTls = urlToHttpOptions(new URL(url)).protocol === 'https:';
  const agent = new (isTls ? TlsAgent : Agent)({ keepAlive: true, timeout: idleMs, maxSockets: maxConnections });
  const request = isTls ? overTls : overHttp;
  return async (body, { path = '', timeoutMs = usualMs } = {}) => {
    const target = urlToHttpOptions(new URL(`${url}${path}`));
    const all = { ...usualHeaders, ...headers, 'content-length': Buffer.byteLength(body) };
    const send = (connections: Agent | false) => {
      const sent = request({ ...target, method: 'POST', agent: connections, headers: all });
      const answer = readAnswer(sent, { timeoutMs, maxBytes });
      sent.end(body);
      return answer;
    };
    return send(agent).catch((error: unknown) => {
      if (error instanceof ConnectionClosed) return send(false);
      throw error;
    });
  };
}

/** What comes after an end of either kind changes nothing. */
const readAnswer = (
  sent: ClientRequest,
  { timeoutMs, maxBytes }: Pick<PostOptions, 'timeoutMs' | 'maxBytes'>,
): Promise<RawAnswer> =>
  new Promise((resolve, reject) => {
    let isAnswered = false;
    const fail = (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      const isClosed = sent.reusedSocket && !isAnswered && ['ECONNRESET', 'EPIPE'].includes(error.code ?? '');
      sent.destroy();
      reject(new (isClosed ? ConnectionClosed : NoAnswer)(error.code ?? error.message));
    };
    const timer = setTimeout(() => fail(new Error('no response in time')), timeoutMs);
    sent.on('error', fail);
    sent.on('response', (response) => {
      isAnswered = true;
      const chunks: Buffer[] = [];
      let bytes = 0;
      const content = uncompressed(response, fail);
      content.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes <= maxBytes) chunks.push(chunk);
        else fail(new Error('the response is too long'));
      });
      content.on('end', () => {
        clearTimeout(timer);
        resolve({ status: response.statusCode ?? 0, bytes: Buffer.concat(chunks) });
      });
    });
  });

function uncompressed(response: IncomingMessage, fail: (error: Error) => void): Readable {
  response.on('error', fail);
  return response.headers['content-encoding'] === 'gzip' ? response.pipe(createGunzip().on('error', fail)) : response;
}
