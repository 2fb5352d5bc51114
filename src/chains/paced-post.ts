import { setTimeout as delay } from 'node:timers/promises';
import { parseJson } from './json';
import { LimitedRequests, NoAnswer } from './no-answer';
import type { Turns } from './pace';
import { createRawPost } from './post';

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
 * What a path answers to a POST: JSON that is parsed, or its bytes; 10 s for one try without `timeoutMs`.
 * Rejects with NoAnswer when there is no usable response in time: LimitedRequests where too many are made.
 */
export type PacedPost<A = unknown> = (path: string, body: object, timeoutMs?: number) => Promise<A>;

export const createPacedPost = (target: HttpTarget): PacedPost => parsed(createPacedRawPost(target));

/** The same requests, with their answers parsed. */
export const parsed =
  (post: PacedPost<Buffer>): PacedPost =>
  async (path, body, timeoutMs) =>
    parseJson(await post(path, body, timeoutMs));

/** Whether the bytes are JSON is not looked at. */
export function createPacedRawPost({ base, headers, pace, tooMany, maxResponseBytes }: HttpTarget): PacedPost<Buffer> {
  const post = createRawPost(base, { headers, timeoutMs: usualMs, maxBytes: maxResponseBytes, maxConnections });
  return async (path, body, timeoutMs = usualMs) => {
    for (let sent = 0; ; sent += 1) {
      await pace.wait();
      const { status, bytes } = await post(JSON.stringify(body), { path, timeoutMs });
      if (status === 200) return bytes;
      const reason = `the response is no answer (HTTP ${status})`;
      if (!tooMany.has(status)) throw new NoAnswer(reason);
      if (sent === repeats) throw new LimitedRequests(reason);
      pace.pause(pauseMs);
      await delay(pauseMs);
    }
  };
}
