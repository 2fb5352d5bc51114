import { setTimeout as delay } from 'node:timers/promises';
import { LimitedRequests, NoAnswer } from './no-answer';
import type { Turns } from './pace';
import { createPost } from './post';

const usualMs = 10_000;
/** Of one client to one endpoint: more than are open at the pace of one that answers. */
const maxConnections = 64;
/** How often a request is repeated that was one too many. */
const repeats = 2;
const pauseMs = 1_000;

export interface HttpTarget {
  /** What comes before the path of a request. */
  base: string;
  headers: Record<string, string>;
  pace: Turns;
  /** Statuses of a request that was one too many. */
  tooMany: ReadonlySet<number>;
  maxResponseBytes: number;
}

/**
 * The JSON that a path answers to a POST; 10 s for one try without `timeoutMs`.
 * Rejects with NoAnswer when there is no usable response in time: LimitedRequests where too many are made.
 */
export type PacedPost = (path: string, body: object, timeoutMs?: number) => Promise<unknown>;

export function createPacedPost({ base, headers, pace, tooMany, maxResponseBytes }: HttpTarget): PacedPost {
  const post = createPost(base, { headers, timeoutMs: usualMs, maxBytes: maxResponseBytes, maxConnections });
  return async (path, body, timeoutMs = usualMs) => {
    for (let sent = 0; ; sent += 1) {
      await pace.wait();
      const { status, text } = await post(JSON.stringify(body), { path, timeoutMs });
      if (status === 200) return parse(text);
      const reason = `the response is no answer (HTTP ${status})`;
      if (!tooMany.has(status)) throw new NoAnswer(reason);
      if (sent === repeats) throw new LimitedRequests(reason);
      pace.pause(pauseMs);
      await delay(pauseMs);
    }
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new NoAnswer('the response is no JSON');
  }
}
