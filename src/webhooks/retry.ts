const day = 24 * 3600;
const longestRetryAfterSeconds = day;
/** An endpoint whose attempts have all failed for this long is disabled; with a shorter retry schedule, at the end of the schedule. */
const failingLimitSeconds = 3 * day;
/** Retries wait up to this much longer, so that deliveries that failed at the same time are not retried at the same time. */
const jitter = 0.2;

export const getFailingLimit = (schedule: readonly number[]): number =>
  Math.min(
    failingLimitSeconds,
    schedule.reduce((sum, wait) => sum + wait, 0),
  );

/**
 * Milliseconds until the next attempt, or null after the last one. A receiver's Retry-After can make the wait longer, up to a day,
 * but never shorter.
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

/** Retry-After (RFC 9110): seconds or a date; any other value is ignored. */
function retryAfterMs(header: string | null, now: number): number {
  if (header === null) return 0;
  const text = header.trim();
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), longestRetryAfterSeconds * 1000) : 0;
}
