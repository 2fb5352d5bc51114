import { NoAnswer } from '../no-answer';

export const usualMs = 10_000;
/** For a full block or the list of a pool over a slow line: only the follower asks for them, and nobody waits for a single one. */
export const blockMs = 60_000;
/** A full block has 4 MB, which are twice as many hex digits; the list of a pool has 67 for each of at most 300,000 transactions. */
export const maxResponseBytes = 24 * 1024 * 1024;

export interface HttpRequest {
  method: 'GET' | 'POST';
  url: string;
  headers?: Record<string, string>;
  body?: string;
  /** Until the response is complete; 10 s without it. */
  timeoutMs?: number;
}

export interface HttpResponse {
  status: number;
  body: Buffer;
}

/** @throws NoAnswer when there is no complete response in time. */
export async function request({ method, url, headers = {}, body, timeoutMs = usualMs }: HttpRequest): Promise<HttpResponse> {
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(url, { method, headers, signal, redirect: 'error', ...(body !== undefined && { body }) });
    return { status: response.status, body: await readBody(response) };
  } catch (error) {
    throw new NoAnswer(error instanceof TooLong ? error.message : error instanceof Error ? error.name : 'error');
  }
}

class TooLong extends Error {}

async function readBody({ body }: Response): Promise<Buffer> {
  if (!body) return Buffer.alloc(0);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > maxResponseBytes) throw new TooLong('the response is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
