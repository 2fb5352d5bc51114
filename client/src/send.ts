/** One request, which can be sent several times. */
export interface Outgoing {
  method: string;
  url: string;
  headers: Headers;
  body: Uint8Array | null;
}

export type Fetch = typeof globalThis.fetch;

/** More than any answer of the gateway has. */
const maxAnswerBytes = 16 * 1024 * 1024;

/** The outgoing request of what openapi-fetch has made. */
export async function toOutgoing(request: Request): Promise<Outgoing> {
  const { method, url, headers } = request;
  return { method, url, headers, body: request.body ? new Uint8Array(await request.arrayBuffer()) : null };
}

/** Such as `POST /api/v1/transfer`, for errors: without the query, which may hold what is not for a log. */
export const nameOf = ({ method, url }: Pick<Outgoing, 'method' | 'url'>): string => `${method} ${new URL(url).pathname}`;

/**
 * Sends it once and reads the whole answer. A redirect is an answer like any other: followed, it would take the API key's headers to another host.
 * @throws the reason of the signal; Error for whatever else keeps the answer from coming, such as a time-out
 */
export async function sendOnce(
  fetch: Fetch,
  { method, url, headers, body }: Outgoing,
  { timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal },
): Promise<Response> {
  signal?.throwIfAborted();
  const ended = new AbortController();
  const timer = setTimeout(() => ended.abort(new Error(`no answer within ${timeoutMs / 1_000} s`)), timeoutMs);
  const stop = () => ended.abort(signal?.reason);
  signal?.addEventListener('abort', stop, { once: true });
  try {
    const answer = await fetch(url, { method, headers, body, redirect: 'manual', signal: ended.signal });
    const read = await readAll(answer);
    return new Response(read.length > 0 ? read : null, { status: answer.status, headers: answer.headers });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

async function readAll({ body }: Response): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of (body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += part.length;
    if (bytes > maxAnswerBytes) throw new Error(`the answer is longer than ${maxAnswerBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}
