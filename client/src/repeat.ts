import { ClientError, NoAnswerError, type Problem, ProblemError } from './errors';
import { pause } from './wait';

/** How often and how long a request is repeated. Times in milliseconds. */
export interface RepeatLimits {
  /** Attempts in all, the first one included. What is sent once more with a new token after a 401 belongs to the same attempt. */
  attempts: number;
  /** From the first request to the last answer. */
  totalMs: number;
  /** For the answer to one of them; a settlement is waited for up to 70 s. */
  attemptMs: number;
  /** Pause before the second request where the gateway names none; doubled before each further one. */
  pauseMs: number;
}

export const defaultLimits: RepeatLimits = { attempts: 6, totalMs: 120_000, attemptMs: 90_000, pauseMs: 500 };

const longestPauseMs = 60_000;
const inProgressMs = 2_000;
/**
 * Nothing was stored: may be repeated also without a key (docs/integration.md, "Repeat safely"). `unavailable` is none of them: the database
 * may have gone away after it has stored the request.
 */
const nothingStored = ['chain_unavailable', 'reconcile_required'];

interface Repeated {
  /** Method and path, for errors. */
  request: string;
  /** Reading, or with an Idempotency-Key: it is done once, however often it arrives. */
  safe: boolean;
  /** Its body has the code of a second factor. */
  hasCode?: boolean;
  limits: RepeatLimits;
  signal?: AbortSignal;
}

/**
 * Sends a request until it is answered with success, or is not to be repeated, or the limits are reached.
 * @param send one attempt, which has to end within the time
 * @throws ProblemError for an answer that is no success; NoAnswerError without one; the reason of the signal
 */
export async function repeat(
  send: (timeoutMs: number) => Promise<Response>,
  { request, safe, hasCode, limits, signal }: Repeated,
): Promise<Response> {
  const endsAt = performance.now() + limits.totalMs;
  for (let attempt = 1; ; attempt += 1) {
    let failure: ProblemError | NoAnswerError;
    try {
      const answer = await send(Math.min(limits.attemptMs, endsAt - performance.now()));
      // openapi-fetch would show a part of anything else in an error
      if (answer.ok && (await isJson(answer))) return answer;
      failure = new ProblemError(answer.status, request, await problemOf(answer), answer.headers, attempt);
    } catch (error) {
      signal?.throwIfAborted();
      // of the request for the token, which has been repeated
      if (error instanceof ClientError) throw error;
      failure = new NoAnswerError(request, attempt, error);
    }
    const waitMs = pauseAfter(failure, { attempt, safe, hasCode, pauseMs: limits.pauseMs });
    if (waitMs === null || attempt >= limits.attempts || performance.now() + waitMs >= endsAt) throw failure;
    await pause(waitMs, signal);
  }
}

/**
 * How long to wait before the same request is sent again, null if it must not be. Never shorter than the gateway asks for, and up to a fifth
 * longer, so that those who were refused together do not come back together.
 */
export function pauseAfter(
  failure: ProblemError | NoAnswerError,
  { attempt, safe, hasCode = false, pauseMs }: { attempt: number; safe: boolean; hasCode?: boolean; pauseMs: number },
  random: () => number = Math.random,
): number | null {
  // after the pause the code may be an old one, which the gateway counts as a wrong one
  if (hasCode && failure instanceof ProblemError && failure.status === 429) return null;
  const shortest = shortestPause(failure, safe, pauseMs);
  if (shortest === null) return null;
  const grows = failure instanceof NoAnswerError || failure.status >= 500;
  const ms = grows ? Math.max(shortest, Math.min(longestPauseMs, shortest * 2 ** (attempt - 1))) : shortest;
  return ms * (1 + random() / 5);
}

function shortestPause(failure: ProblemError | NoAnswerError, safe: boolean, pauseMs: number): number | null {
  if (failure instanceof NoAnswerError) return safe ? pauseMs : null;
  const { status, code, retryAfterMs } = failure;
  if (status === 429) return retryAfterMs ?? pauseMs;
  if (status === 409 && code === 'idempotency_in_progress') return retryAfterMs ?? inProgressMs;
  // the key of the wallet is being generated
  if (code === 'wallet_not_active') return retryAfterMs;
  if (nothingStored.includes(code)) return retryAfterMs ?? pauseMs;
  // outcome_unknown, internal_error, and what a proxy answers
  return safe && [500, 502, 503, 504].includes(status) ? (retryAfterMs ?? pauseMs) : null;
}

const mediaTypeOf = ({ headers }: Response): string | undefined =>
  headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();

async function isJson(answer: Response): Promise<boolean> {
  if (mediaTypeOf(answer) !== 'application/json') return false;
  try {
    JSON.parse(await answer.clone().text());
    return true;
  } catch {
    return false;
  }
}

/** Null unless it is a problem document. */
async function problemOf(answer: Response): Promise<Problem | null> {
  if (mediaTypeOf(answer) !== 'application/problem+json') return null;
  try {
    const body = (await answer.json()) as Partial<Problem> | null;
    return typeof body?.code === 'string' && typeof body.detail === 'string' ? (body as Problem) : null;
  } catch {
    return null;
  }
}
