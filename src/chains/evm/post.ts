import { Agent, type IncomingMessage, request as overHttp } from 'node:http';
import { Agent as TlsAgent, request as overTls } from 'node:https';
import { urlToHttpOptions } from 'node:url';

export interface Answer {
  /** HTTP status. */
  status: number;
  text: string;
}

interface PostLimits {
  /** Until the whole answer is there. */
  timeoutMs: number;
  maxBytes: number;
  /** At the same time; further requests wait for them, and their time runs. */
  maxConnections: number;
}

/** A kept connection that nobody uses is closed after this time. */
const idleMs = 30_000;

/**
 * POST requests with JSON to one url, over kept connections. By node:http, since fetch takes a millisecond of processor time more for a
 * short request. Rejects with an error that names neither url nor body.
 */
export function createPost(url: string, { timeoutMs, maxBytes, maxConnections }: PostLimits): (body: string) => Promise<Answer> {
  const target = urlToHttpOptions(new URL(url));
  const isTls = target.protocol === 'https:';
  const request = isTls ? overTls : overHttp;
  const agent = new (isTls ? TlsAgent : Agent)({ keepAlive: true, timeout: idleMs, maxSockets: maxConnections });
  return (body) =>
    new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
      const sent = request({ ...target, method: 'POST', agent, headers });
      const fail = (error: NodeJS.ErrnoException) => {
        clearTimeout(timer);
        sent.destroy();
        reject(new Error(error.code ?? error.message));
      };
      const timer = setTimeout(() => fail(new Error('no response in time')), timeoutMs);
      sent.on('error', fail);
      sent.on('response', (response) => {
        response.on('error', fail);
        readText(response, maxBytes, (text) => {
          if (text === null) return fail(new Error('the response is too long'));
          clearTimeout(timer);
          resolve({ status: response.statusCode ?? 0, text });
        });
      });
      sent.end(body);
    });
}

/** `done`: once, with null for one that is too long. */
function readText(response: IncomingMessage, maxBytes: number, done: (text: string | null) => void): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= maxBytes) chunks.push(chunk);
    else done(null);
  });
  response.on('end', () => done(Buffer.concat(chunks).toString('utf8')));
}
