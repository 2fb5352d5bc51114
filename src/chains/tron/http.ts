import { setTimeout as delay } from 'node:timers/promises';
import type { Pace } from './pace';

const usualMs = 10_000;
/** Ten full blocks of 2 MB are twice as many hex digits, each of them once in raw_data and once in raw_data_hex. */
const maxResponseBytes = 96 * 1024 * 1024;
/** How often a request is repeated that was one too many. */
const repeats = 2;
const pauseMs = 1_000;
/** TronGrid answers 403 beyond a limit, other services 429. */
const tooMany: ReadonlySet<number> = new Set([403, 429]);

export interface HttpTarget {
  /** Without a slash at its end. */
  base: string;
  headers: Record<string, string>;
  pace: Pace;
}

/**
 * The JSON that a path answers to a POST.
 * @throws Error, which names neither host nor key, when there is no usable response in time.
 */
export async function post(
  { base, headers, pace }: HttpTarget,
  path: string,
  body: object,
  timeoutMs = usualMs,
): Promise<unknown> {
  for (let sent = 0; ; sent += 1) {
    await pace.wait();
    const { status, text } = await send(`${base}${path}`, headers, JSON.stringify(body), timeoutMs);
    if (status === 200) return parse(text);
    if (!tooMany.has(status) || sent === repeats) throw new Error(`the response is no answer (HTTP ${status})`);
    pace.pause(pauseMs);
    await delay(pauseMs);
  }
}

async function send(
  url: string,
  headers: Record<string, string>,
  body: string,
  timeoutMs: number,
): Promise<{ status: number; text: string }> {
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(url, {
      ...{ method: 'POST', signal, redirect: 'error', body },
      headers: { ...headers, 'content-type': 'application/json' },
    });
    return { status: response.status, text: await readBody(response) };
  } catch (error) {
    throw new Error(error instanceof TooLong ? error.message : error instanceof Error ? error.name : 'error');
  }
}

class TooLong extends Error {}

async function readBody({ body }: Response): Promise<string> {
  if (!body) return '';
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > maxResponseBytes) throw new TooLong('the response is too long');
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
