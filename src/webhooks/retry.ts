const day = 24 * 3600;
const longestRetryAfterSeconds = day;
/** An endpoint with nothing but failures for so long is disabled; with a shorter schedule, at that schedule's end. */
const failingLimitSeconds = 3 * day;
/** Retries are spread over so much more than their wait: endpoints that failed together do not come back together. */
const jitter = 0.2;

export const getFailingLimit = (schedule: readonly number[]): number =>
  Math.min(
    failingLimitSeconds,
    schedule.reduce((sum, wait) => sum + wait, 0),
  );

/**
 * Milliseconds until the next attempt, or null after the last one. A receiver's Retry-After makes it later, never earlier,
 * up to a day.
 * @param attempts made so far, at least 1
 */
export function retryDelayMs(
  schedule: readonly number[],
  attempts: number,
  retryAfter: string | null,
  { random = Math.random, now = Date.now } = {},
): number | null {
  const waitSeconds = schedule[attempts - 1];
  if (waitSeconds === undefined) return null;
  const scheduledMs = waitSeconds * 1000 * (1 + jitter * random());
  return Math.round(Math.max(scheduledMs, retryAfterMs(retryAfter, now())));
}

/** Retry-After as RFC 9110 has it: seconds or a date; anything else counts as absent. */
function retryAfterMs(header: string | null, now: number): number {
  if (header === null) return 0;
  const text = header.trim();
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), longestRetryAfterSeconds * 1000) : 0;
}
