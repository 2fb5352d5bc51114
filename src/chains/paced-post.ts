import { setTimeout as delay } from 'node:timers/promises';
import type { Pace } from './pace';

const usualMs = 10_000;
/** How often a request is repeated that was one too many. */
const repeats = 2;
const pauseMs = 1_000;

export interface HttpTarget {
  /** What comes before the path of a request. */
  base: string;
  headers: Record<string, string>;
  pace: Pace;
  /** Statuses of a request that was one too many. */
  tooMany: ReadonlySet<number>;
  maxResponseBytes: number;
}

/**
 * The JSON that a path answers to a POST.
 * @throws Error, which names neither host nor key, when there is no usable response in time.
 */
export async function post(target: HttpTarget, path: string, body: object, timeoutMs = usualMs): Promise<unknown> {
  for (let sent = 0; ; sent += 1) {
    await target.pace.wait();
    const { status, text } = await send(target, path, JSON.stringify(body), timeoutMs);
    if (status === 200) return parse(text);
    if (!target.tooMany.has(status) || sent === repeats) throw new Error(`the response is no answer (HTTP ${status})`);
    target.pace.pause(pauseMs);
    await delay(pauseMs);
  }
}

async function send(
  { base, headers, maxResponseBytes }: HttpTarget,
  path: string,
  body: string,
  timeoutMs: number,
): Promise<{ status: number; text: string }> {
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(`${base}${path}`, {
      ...{ method: 'POST', signal, redirect: 'error', body },
      headers: { ...headers, 'content-type': 'application/json' },
    });
    return { status: response.status, text: await readBody(response, maxResponseBytes) };
  } catch (error) {
    throw new Error(error instanceof TooLong ? error.message : error instanceof Error ? error.name : 'error');
  }
}

class TooLong extends Error {}

async function readBody({ body }: Response, maxBytes: number): Promise<string> {
  if (!body) return '';
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > maxBytes) throw new TooLong('the response is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('the response is no JSON');
  }
}
