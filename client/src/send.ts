import { withDeadline } from './wait';

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
  const sendAndRead = async (ending: AbortSignal): Promise<Response> => {
    const answer = await fetch(url, { method, headers, body, redirect: 'manual', signal: ending });
    const read = await readAll(answer);
    return new Response(read.length > 0 ? read : null, { status: answer.status, headers: answer.headers });
  };
  const late = () => new Error(`no answer within ${timeoutMs / 1_000} s`);
  return withDeadline(sendAndRead, { timeoutMs, late, signal });
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
